#include "base/aligned_map.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "shardwise/bytes.h"

namespace shardwise {
namespace {

// True when the page at `at` is mapped.
bool is_mapped(const std::byte* at) {
  unsigned char resident = 0;
  return ::mincore(const_cast<std::byte*>(at), 1, &resident) == 0;
}

TEST(AlignedMap, IsAlignedZeroedAndWritable) {
  for (const std::uint64_t alignment : {4_KiB, 64_KiB, 2_MiB, 1_GiB}) {
    for (const std::uint64_t size : {std::uint64_t{1}, 4_KiB, 4_KiB + 1, 3_MiB}) {
      for (const Commit commit : {Commit::kAccounted, Commit::kOnTouch}) {
        SCOPED_TRACE(::testing::Message() << size << " at multiples of " << alignment);
        std::byte* const data = map_aligned(size, alignment, commit);
        ASSERT_NE(data, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % alignment, 0u);
        EXPECT_EQ(data[0], std::byte{0});
        std::memset(data, 1, size);
        EXPECT_EQ(data[size - 1], std::byte{1});
        ASSERT_EQ(::munmap(data, size), 0);
        EXPECT_FALSE(is_mapped(data));
      }
    }
  }
}

TEST(AlignedMap, LeavesNothingAroundIt) {
  // With 1 GiB of alignment, what is trimmed would show as a growth of address space; so would what is trimmed too
  // much.
  for (int i = 0; i < 1000; ++i) {
    std::byte* const data = map_aligned(64_KiB, 1_GiB, Commit::kOnTouch);
    ASSERT_NE(data, nullptr);
    EXPECT_TRUE(is_mapped(data + 60_KiB));
    EXPECT_FALSE(is_mapped(data + 512_MiB));
    ASSERT_EQ(::munmap(data, 64_KiB), 0);
  }
}

TEST(AlignedMap, RefusesNothingAndTooMuch) {
  errno = 0;
  EXPECT_EQ(map_aligned(0, 4_KiB, Commit::kOnTouch), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(map_aligned(std::uint64_t{1} << 61, 4_KiB, Commit::kOnTouch), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(map_aligned(~std::uint64_t{0}, 2_MiB, Commit::kOnTouch), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

}  // namespace
}  // namespace shardwise
