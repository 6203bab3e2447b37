#include "io/scattered_read.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <vector>

#include "io/faulty_file.h"
#include "io/memory_file.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace shardwise {
namespace {

class ScatteredRead : public testing::Test {
 protected:
  ScatteredRead() {
    std::mt19937_64 random(3);
    for (int i = 0; i < 1'000'000; ++i) bytes_ += static_cast<char>(random());
    path_ = folder_.write("file", bytes_);
  }

  // Random pieces, some empty, laid out backwards in memory, that take [offset, end) of the file.
  void check(const File& file, std::uint64_t offset, std::uint64_t end, std::uint64_t longest) {
    std::mt19937_64 random(end + longest);
    std::vector<std::byte> memory(end - offset);
    std::vector<std::span<std::byte>> targets;
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t at = offset; at < end;) {
      sizes.push_back(std::min(end - at, random() % (longest + 1)));
      at += sizes.back();
    }
    std::uint64_t left = memory.size();
    for (const std::uint64_t size : sizes) targets.emplace_back(memory.data() + (left -= size), size);
    ASSERT_THAT(read_scattered(file, offset, targets), IsOk());
    for (const std::span<std::byte> target : targets) {
      ASSERT_EQ(std::string(reinterpret_cast<const char*>(target.data()), target.size()),
                bytes_.substr(offset, target.size()));
      offset += target.size();
    }
  }

  TemporaryFolder folder_{"/var/tmp"};
  std::string path_;
  std::string bytes_;
};

TEST_F(ScatteredRead, FillsManyPlacesFromDiskAndFromMemory) {
  const auto disk = open_file(path_);
  ASSERT_THAT(disk, IsOk());
  const MemoryFile memory("memory", bytes_);
  for (const File* file : {disk->get(), static_cast<const File*>(&memory)}) {
    check(*file, 13, 1'000'000, 100);  // far more pieces than one call takes
    check(*file, 0, 512 * 1024, 512);
    check(*file, 999'999, 1'000'000, 4);
    check(*file, 5, 5, 4);
  }
}

TEST_F(ScatteredRead, TellsWhereAFileEnds) {
  const auto disk = open_file(path_);
  std::vector<std::byte> memory(200);
  const std::vector<std::span<std::byte>> targets = {std::span(memory).first(100), std::span(memory).last(100)};
  EXPECT_THAT(read_scattered(**disk, 999'900, targets), FailsWith(Code::kDataLoss, "file"));
  std::filesystem::resize_file(path_, 999'850);
  EXPECT_THAT(read_scattered(**disk, 999'800, targets), FailsWith(Code::kDataLoss, "999850"));
  EXPECT_THAT(read_scattered(FaultyFile(*disk, {.io_error = ByteRange{150, 151}}), 0, targets),
              FailsWith(Code::kUnavailable, ""));
}

}  // namespace
}  // namespace shardwise
