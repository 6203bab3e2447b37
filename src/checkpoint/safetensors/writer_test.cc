#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "checkpoint/catalog/readers.h"
#include "shardwise/checkpoint.h"
#include "shardwise/file.h"
#include "shardwise/safetensors_writer.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace shardwise {
namespace {

using Part = SafetensorsWriter::Part;

class WriterTest : public testing::Test {
 protected:
  static std::span<const std::byte> bytes_of(const std::vector<float>& values) {
    return std::as_bytes(std::span(values));
  }

  // The stored values of a float32 tensor of the finished file.
  std::vector<float> read(const std::string& name) const {
    const auto file = open_file(path_);
    EXPECT_THAT(file, IsOk());
    const auto catalog = read_safetensors(path_, **file, {});
    EXPECT_THAT(catalog, IsOk());
    const TensorInfo* tensor = catalog->find(name);
    if (tensor == nullptr) return {};
    std::vector<float> values(tensor->bytes() / 4);
    EXPECT_THAT((*file)->read(tensor->extents[0].range.begin, std::as_writable_bytes(std::span(values))), IsOk());
    return values;
  }

  TemporaryFolder folder_{"/var/tmp"};
  std::string path_ = folder_.path("out.safetensors");
};

TEST_F(WriterTest, PartsInAnyOrderMakeTheTensor) {
  auto writer = SafetensorsWriter::create(
      path_, {{"small", DType::kUint8, {3}}, {"matrix", DType::kFloat32, {2, 4}}, {"none", DType::kFloat32, {0, 5}}},
      {{"made by", "a test"}});
  ASSERT_THAT(writer, IsOk());
  const std::vector<float> left = {0, 1, 4, 5};
  const std::vector<float> right = {2, 3, 6, 7};
  const Part parts[] = {{Box{{0, 2}, {2, 2}}, bytes_of(right)}, {Box{{0, 0}, {2, 2}}, bytes_of(left)}};
  ASSERT_THAT((*writer)->write(1, parts), IsOk());
  EXPECT_FALSE(std::filesystem::exists(path_)) << "not before it is finished";
  EXPECT_THAT((*writer)->finish(), FailsWith(Code::kFailedPrecondition, "'small'"));
  const std::byte three[3] = {};
  const Part small{Box::whole({3}), three};
  ASSERT_THAT((*writer)->write(0, {&small, 1}), IsOk());
  EXPECT_THAT((*writer)->write(0, {&small, 1}), FailsWith(Code::kInvalidArgument, "twice"));
  ASSERT_THAT((*writer)->finish(), IsOk());
  EXPECT_EQ(read("matrix"), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
}

// The two ways to write: rows put together, and run by run where a part comes alone.
TEST_F(WriterTest, PartsTogetherAndOneByOneGiveTheSameFile) {
  const std::int64_t rows = 700;
  const std::int64_t columns = 1200;  // more than one slab
  std::vector<float> left;
  std::vector<float> right;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      (c < 500 ? left : right).push_back(static_cast<float>(r * columns + c));
    }
  }
  const Part parts[] = {{Box{{0, 0}, {rows, 500}}, bytes_of(left)}, {Box{{0, 500}, {rows, 700}}, bytes_of(right)}};
  for (const bool together : {true, false}) {
    auto writer = SafetensorsWriter::create(path_, {{"m", DType::kFloat32, {rows, columns}}});
    ASSERT_THAT(writer, IsOk());
    if (together) {
      ASSERT_THAT((*writer)->write(0, parts), IsOk());
    } else {
      for (const Part& part : parts) ASSERT_THAT((*writer)->write(0, {&part, 1}), IsOk());
    }
    ASSERT_THAT((*writer)->finish(), IsOk());
    const std::vector<float> values = read("m");
    ASSERT_EQ(values.size(), static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(i)) << together;
  }
}

TEST_F(WriterTest, LeavesNothingWhenItIsNotFinished) {
  ASSERT_THAT(SafetensorsWriter::create(path_, {{"m", DType::kFloat32, {8}}}), IsOk());
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(WriterTest, RefusesWhatTheFormatCannotHold) {
  const auto create = [&](const TensorToWrite& tensor) { return SafetensorsWriter::create(path_, {tensor}).status(); };
  EXPECT_THAT(create({"__metadata__", DType::kFloat32, {1}}), FailsWith(Code::kUnimplemented, "__metadata__"));
  EXPECT_THAT(create({"\xff", DType::kFloat32, {1}}), FailsWith(Code::kUnimplemented, "not UTF-8"));
  EXPECT_THAT(create({"c", DType::kComplex128, {1}}), FailsWith(Code::kUnimplemented, "complex128"));
  EXPECT_THAT(create({"s", DType::kFloat32, {-1}}), FailsWith(Code::kInvalidArgument, "'s'"));
  EXPECT_THAT(SafetensorsWriter::create(path_, {{"a"}, {"a"}}).status(), FailsWith(Code::kInvalidArgument, "'a'"));
  EXPECT_THAT(SafetensorsWriter::create(folder_.path("no/such"), {{"a"}}).status(),
              FailsWith(Code::kUnavailable, "/no/such"));
  auto writer = SafetensorsWriter::create(path_, {{"m", DType::kFloat32, {2, 2}}});
  ASSERT_THAT(writer, IsOk());
  const std::vector<float> values(4);
  const Part outside{Box{{1, 0}, {2, 2}}, bytes_of(values)};
  const Part short_one{Box{{0, 0}, {1, 2}}, bytes_of(values)};
  EXPECT_THAT((*writer)->write(0, {&outside, 1}), FailsWith(Code::kInvalidArgument, "no part"));
  EXPECT_THAT((*writer)->write(0, {&short_one, 1}), FailsWith(Code::kInvalidArgument, "16 bytes"));
  EXPECT_THAT((*writer)->write(1, {}), FailsWith(Code::kInvalidArgument, "number 1"));
}

}  // namespace
}  // namespace shardwise
