#include "load/read_ahead.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <string>

#include "shardwise/bytes.h"
#include "testing/matchers.h"
#include "testing/temporary_folder.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kWindow = 64_KiB;

class ReadAheadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto ring = Ring::create(1); !ring.ok()) GTEST_SKIP() << ring.status().to_string();
    std::mt19937_64 random(5);
    content_.resize(3'000'123);
    for (char& c : content_) c = static_cast<char>(random());
    const auto file = open_file(folder_.write("file", content_));
    ASSERT_THAT(file, IsOk());
    auto direct = DirectFile::open(**file);
    if (!direct.ok()) GTEST_SKIP() << direct.status().to_string();
    file_ = *direct;
  }

  // Windows that follow each other from `begin` on, of up to kWindow bytes, with a gap before some.
  std::vector<Window> cut(std::uint64_t begin, bool gaps) {
    std::mt19937_64 random(6);
    std::vector<Window> windows;
    for (std::uint64_t at = begin; at < content_.size();) {
      const std::uint64_t size = std::min<std::uint64_t>(content_.size() - at, kWindow - random() % 5000);
      windows.push_back({.file = 0, .range = {at, at + size}});
      at += size + (gaps && random() % 3 == 0 ? random() % 9000 : 0);
    }
    return windows;
  }

  // Gives all of `windows` to `reads` as a worker would, and compares every byte. True if all came.
  void read(ReadAhead& reads, std::span<const Window> windows) {
    std::size_t asked = 0;
    std::size_t done = 0;
    while (done < windows.size()) {
      ASSERT_THAT(reads.reap(), IsOk());
      if (asked < windows.size() && reads.has_room()) {
        const std::size_t count = std::min<std::size_t>(reads.stretch(), windows.size() - asked);
        ASSERT_THAT(reads.submit(*file_, windows.subspan(asked, count)), IsOk());
        if (reads.has_room()) std::memset(reads.scratch().data(), 0xff, reads.scratch().size());  // nobody's bytes
        asked += count;
      } else if (reads.has_arrived()) {
        const ByteRange range = reads.front().range;
        const auto bytes = reads.front_bytes();
        ASSERT_EQ(bytes.size(), range.size());
        ASSERT_EQ(std::memcmp(bytes.data(), content_.data() + range.begin, range.size()), 0) << range.begin;
        reads.pop();
        ++done;
      } else {
        ASSERT_TRUE(reads.is_busy());
        ASSERT_THAT(reads.wait(), IsOk());
      }
    }
    EXPECT_FALSE(reads.is_busy());
  }

  TemporaryFolder folder_{"/var/tmp"};
  std::string content_;
  std::shared_ptr<const DirectFile> file_;
};

TEST_F(ReadAheadTest, GivesEveryWindowItsBytesWithAnyNumberOfSlots) {
  for (const unsigned slots : {1u, 2u, 3u, 5u, 8u, 33u}) {
    for (const bool gaps : {false, true}) {
      SCOPED_TRACE(::testing::Message() << slots << " slots, gaps " << gaps);
      auto reads = ReadAhead::create(kWindow, slots, true);
      ASSERT_THAT(reads, IsOk());
      EXPECT_GE((*reads)->stretch(), 1u);
      EXPECT_LE((*reads)->stretch(), slots);
      read(**reads, cut(slots * 77, gaps));
    }
  }
}

TEST_F(ReadAheadTest, LeavesRoomForWhatHasArrived) {
  auto reads = ReadAhead::create(kWindow, 8, true);
  ASSERT_THAT(reads, IsOk());
  const std::vector<Window> windows = cut(0, false);
  std::size_t asked = 0;
  while ((*reads)->has_room()) {
    ASSERT_THAT((*reads)->submit(*file_, std::span(windows).subspan(asked, (*reads)->stretch())), IsOk());
    asked += (*reads)->stretch();
  }
  EXPECT_EQ(asked, 8 - (*reads)->stretch());
  // What arrives makes room in flight: the next is asked for before anything is worked off.
  ASSERT_THAT((*reads)->wait(), IsOk());
  EXPECT_TRUE((*reads)->has_room());
}

TEST_F(ReadAheadTest, FileThatBecameShorterIsDataLoss) {
  auto reads = ReadAhead::create(kWindow, 4, true);
  ASSERT_THAT(reads, IsOk());
  std::filesystem::resize_file(file_->path(), 4096);
  const Window window{.file = 0, .range = {8000, 9000}};
  ASSERT_THAT((*reads)->submit(*file_, std::span(&window, 1)), IsOk());
  EXPECT_THAT((*reads)->wait(), FailsWith(Code::kDataLoss));
}

}  // namespace
}  // namespace shardwise
