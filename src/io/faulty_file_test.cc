#include "io/faulty_file.h"

#include <gtest/gtest.h>

#include <vector>

#include "io/memory_file.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<const File> letters() { return std::make_shared<MemoryFile>("letters", "abcdefghij"); }

Status read(const File& file, std::uint64_t offset, std::size_t count) {
  std::vector<std::byte> bytes(count);
  return file.read(offset, bytes);
}

TEST(FaultyFile, CountsReadsAndBytes) {
  const FaultyFile file(letters());
  EXPECT_THAT(read(file, 0, 4), IsOk());
  EXPECT_THAT(read(file, 4, 6), IsOk());
  EXPECT_THAT(read(file, 9, 2), FailsWith(Code::kDataLoss));
  EXPECT_EQ(file.reads(), 3u);
  EXPECT_EQ(file.bytes_read(), 10u);
  EXPECT_EQ(file.descriptor(), -1);
}

TEST(FaultyFile, BadBlock) {
  const FaultyFile file(letters(), {.io_error = ByteRange{4, 6}});
  EXPECT_THAT(read(file, 0, 4), IsOk());
  EXPECT_THAT(read(file, 6, 4), IsOk());
  EXPECT_THAT(read(file, 3, 2), FailsWith(Code::kUnavailable, "[3, 5)"));
  EXPECT_THAT(read(file, 5, 1), FailsWith(Code::kUnavailable, "letters"));
  EXPECT_THAT(read(file, 0, 10), FailsWith(Code::kUnavailable));
}

TEST(FaultyFile, ShrinksInUse) {
  const FaultyFile file(letters(), {.shrinks_at = 1, .shrunk_size = 5});
  EXPECT_THAT(read(file, 4, 4), IsOk());
  EXPECT_THAT(read(file, 4, 4), FailsWith(Code::kDataLoss, "ends at 5"));
  EXPECT_THAT(read(file, 0, 5), IsOk());
  EXPECT_EQ(file.size(), 10u);
}

TEST(FaultyFile, FlipsAByte) {
  const FaultyFile file(letters(), {.flipped_byte = 3});
  std::vector<std::byte> bytes(2);
  ASSERT_THAT(file.read(2, bytes), IsOk());
  EXPECT_THAT(bytes, ElementsAre(std::byte{'c'}, std::byte{'d'} ^ std::byte{0xff}));
  ASSERT_THAT(file.read(4, bytes), IsOk());
  EXPECT_THAT(bytes, ElementsAre(std::byte{'e'}, std::byte{'f'}));
}

TEST(FaultyFile, TellsOfEachReadAndIsSlow) {
  std::vector<std::uint64_t> numbers;
  const FaultyFile file(letters(), {.delay = std::chrono::milliseconds(5),
                                    .on_read = [&](std::uint64_t number) { numbers.push_back(number); }});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(read(file, 0, 1), IsOk());
  EXPECT_THAT(read(file, 0, 1), IsOk());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(10));
  EXPECT_THAT(numbers, ElementsAre(0u, 1u));
}

}  // namespace
}  // namespace shardwise
