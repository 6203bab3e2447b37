// Every prefix and every single-byte change of small files: a Status or contents that keep the catalog's promises.
#include <gtest/gtest.h>

#include <array>

#include "checkpoint/hdf5/file_builder_testing.h"
#include "checkpoint/hdf5/hdf5.h"
#include "io/memory_file.h"
#include "testing/matchers.h"

namespace shardwise::hdf5 {
namespace {

using testing::FileBuilder;
using testing::header_v1;
using testing::header_v2;
using testing::Writer;

// Groups, attributes in a global heap, filtered chunks with gaps, a continuation, compact and opaque data: every
// structure that version 0 files have.
std::string old_style_file() {
  FileBuilder builder;
  const std::uint64_t heap = builder.add(Writer()
                                             .text("GCOL")
                                             .u8(1)
                                             .zeros(3)
                                             .u64(56)
                                             .u16(1)
                                             .u16(0)
                                             .u32(0)
                                             .u64(8)
                                             .text("bfloat16")
                                             .u16(0)
                                             .u16(0)
                                             .u32(0)
                                             .u64(16));
  const std::uint64_t data = builder.add(std::string(64, 'x'));
  const std::uint64_t bfloat =
      builder.add(header_v1({testing::dataspace({2}), testing::opaque(2), testing::contiguous(data, 4),
                             testing::heap_attribute("dtype", 8, heap, 1)}));
  const std::uint64_t left = builder.add(testing::chunk_node(0, {{0, 9, data}}, 4));
  const std::uint64_t right = builder.add(testing::chunk_node(0, {{8, 16, data + 16, 2}}, 12));
  const std::uint64_t tree = builder.add(testing::chunk_node(1, {{0, 9, left}, {8, 16, right}}, 12));
  const testing::TestMessage pipeline{
      0x0b,
      Writer().u8(1).u8(2).zeros(6).u16(2).u16(0).u16(1).u16(1).u32(4).u32(0).u16(1).u16(0).u16(1).u16(1).u32(6).u32(
          0)};
  const std::string rest = testing::messages_v1({pipeline, testing::fill("abcd")});
  const std::uint64_t block = builder.add(rest);
  const std::uint64_t chunks =
      builder.add(header_v1({testing::dataspace({11}), testing::float32(), testing::chunked(tree, {4}, 4),
                             testing::continuation(block, rest.size())},
                            2));
  const std::uint64_t compact = builder.add(header_v1(
      {testing::dataspace({2, 1}), testing::fixed_point(2, true), {0x08, Writer().u8(3).u8(0).u16(4).u32(7)}}));
  const std::uint64_t group =
      builder.add_group({{"0", bfloat}, {"1", chunks}}, "g", {testing::text_attribute("name", "dense")});
  return builder.finish(builder.add_group({{"c", compact}, {"g", group}}, "root"));
}

// Version 2 headers and link messages. Their checksums stop most changes, so a second test repairs them.
std::string new_style_file() {
  FileBuilder builder;
  const std::uint64_t data = builder.add("0123abcd");
  const std::uint64_t dataset = builder.add(header_v2({{0x01, Writer().u8(2).u8(1).u8(1).u8(1).u64(2).u64(2)},
                                                       testing::float32(),
                                                       {0x08, Writer().u8(4).u8(1).u64(data).u64(8)},
                                                       {0x05, Writer().u8(3).u8(0x0a)}}));
  return builder.finish(builder.add(header_v2({{0x02, Writer().u8(0).u8(0).u64(kUndefined).u64(kUndefined)},
                                               {0x06, Writer().u8(1).u8(0).u8(1).text("v").u64(dataset)}})));
}

// What a caller relies on, whatever the file: ranges inside the file, boxes inside the shape and as many elements in
// them as the tensor has.
void expect_sound(const Contents& contents, std::uint64_t file_size) {
  ASSERT_EQ(contents.datasets.size(), contents.dataset_attributes.size());
  for (const TensorInfo& tensor : contents.datasets) {
    ASSERT_THAT(byte_count(tensor.shape, tensor.dtype), IsOk());
    std::uint64_t elements = 0;
    for (const Extent& extent : tensor.extents) {
      EXPECT_TRUE(fits(extent.box, tensor.shape)) << tensor.name;
      elements += extent.box.elements();
      if (extent.file == Extent::kNoFile) continue;
      EXPECT_LE(extent.range.begin, extent.range.end);
      EXPECT_LE(extent.range.end, file_size);
      if (extent.encoding == Extent::kRaw) {
        EXPECT_EQ(extent.range.size(), extent.box.elements() * byte_width(tensor.dtype)) << tensor.name;
      } else {
        EXPECT_LT(extent.encoding, contents.encodings.size());
      }
    }
    EXPECT_EQ(elements, *element_count(tensor.shape)) << tensor.name;
  }
}

class RobustnessTest : public ::testing::TestWithParam<std::string (*)()> {};

TEST_P(RobustnessTest, EveryPrefixIsAnError) {
  const std::string file = GetParam()();
  ASSERT_THAT(read(MemoryFile("m.h5", file)), IsOk());
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_THAT(read(MemoryFile("m.h5", file.substr(0, size))), FailsWith(Code::kDataLoss)) << size;
  }
}

// The same, with the superblock saying that the file ends there.
TEST_P(RobustnessTest, EveryPrefixThatSaysSoIsSound) {
  const std::string file = GetParam()();
  for (std::size_t size = FileBuilder::kSuperblockSize; size < file.size(); ++size) {
    std::string prefix = file.substr(0, size);
    testing::poke(prefix, 40, size, 8);
    EXPECT_THAT(read(MemoryFile("m.h5", prefix)), FailsWith(Code::kDataLoss)) << size;
  }
}

TEST_P(RobustnessTest, EveryChangedByteIsSound) {
  const std::string file = GetParam()();
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < file.size(); ++at) {
    const auto old = static_cast<unsigned char>(file[at]);
    std::vector<unsigned> values = {0x00, 0x01, 0x7f, 0x80, 0xff, old + 1u, old - 1u};
    for (unsigned bit = 0; bit < 8; ++bit) values.push_back(old ^ 1u << bit);
    for (const unsigned value : values) {
      std::string changed = file;
      changed[at] = static_cast<char>(value);
      const auto contents = read(MemoryFile("m.h5", changed));
      ++(contents.ok() ? accepted : refused);
      if (!contents.ok()) {
        EXPECT_NE(contents.status().code(), Code::kInternal) << contents.status().to_string();
        continue;
      }
      SCOPED_TRACE(at);
      expect_sound(*contents, changed.size());
    }
  }
  // The data themselves may change; most of the structure may not.
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(refused, accepted / 2);
}

INSTANTIATE_TEST_SUITE_P(Files, RobustnessTest, ::testing::Values(old_style_file, new_style_file));

}  // namespace
}  // namespace shardwise::hdf5
