#include "io/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "base/format.h"
#include "shardwise/bytes.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

std::uintptr_t address(HugeBuffer& buffer) { return reinterpret_cast<std::uintptr_t>(buffer.data()); }

TEST(HugeBuffer, IsAlignedZeroedAndWritable) {
  for (const std::uint64_t size : {1_KiB, 4_KiB, 4_KiB + 1, 2_MiB - 1, 2_MiB, 2_MiB + 1, 5_MiB, 64_MiB}) {
    SCOPED_TRACE(size);
    auto buffer = HugeBuffer::create(size);
    ASSERT_THAT(buffer, IsOk());
    EXPECT_EQ(buffer->size(), size);
    EXPECT_EQ(buffer->span().size(), size);
    EXPECT_EQ(address(*buffer) % (size >= 2_MiB ? 2_MiB : 4_KiB), 0u);
    EXPECT_EQ(buffer->span().front(), std::byte{0});
    EXPECT_EQ(buffer->span().back(), std::byte{0});
    std::memset(buffer->data(), 1, size);
    EXPECT_EQ(buffer->span().back(), std::byte{1});
  }
}

TEST(HugeBuffer, OfNothing) {
  auto buffer = HugeBuffer::create(0);
  ASSERT_THAT(buffer, IsOk());
  EXPECT_EQ(buffer->size(), 0u);
  EXPECT_TRUE(buffer->span().empty());
}

TEST(HugeBuffer, TooLargeIsResourceExhausted) {
  EXPECT_THAT(HugeBuffer::create(std::uint64_t{1} << 60), FailsWith(Code::kResourceExhausted, "1 EiB"));
  EXPECT_THAT(HugeBuffer::create(~std::uint64_t{0}), FailsWith(Code::kResourceExhausted));
}

TEST(HugeBuffer, Moves) {
  auto a = HugeBuffer::create(3_MiB);
  ASSERT_THAT(a, IsOk());
  std::byte* const data = a->data();
  HugeBuffer b = std::move(*a);
  EXPECT_EQ(b.data(), data);
  HugeBuffer c;
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c.size(), 3_MiB);
  EXPECT_EQ(b.size(), 0u);  // NOLINT(bugprone-use-after-move): its state after a move is part of the contract
}

TEST(Populate, ChangesNothing) {
  auto buffer = HugeBuffer::create(5_MiB);
  ASSERT_THAT(buffer, IsOk());
  buffer->span()[3_MiB] = std::byte{7};
  populate(buffer->span().subspan(1, 4_MiB));  // begins and ends within pages
  EXPECT_EQ(buffer->span()[3_MiB], std::byte{7});
  EXPECT_EQ(buffer->span()[1_MiB], std::byte{0});
  populate({});
}

// True when the page at `at` is mapped at all.
bool is_mapped(std::uintptr_t at) {
  unsigned char resident = 0;
  return ::mincore(reinterpret_cast<void*>(at & ~std::uintptr_t{4095}), 1, &resident) == 0;
}

TEST(HugeBuffer, ReturnsItsMemory) {
  std::uintptr_t at = 0;
  {
    auto buffer = HugeBuffer::create(64_MiB);
    ASSERT_THAT(buffer, IsOk());
    at = address(*buffer) + 32_MiB;
    EXPECT_TRUE(is_mapped(at));
  }
  EXPECT_FALSE(is_mapped(at));
}

// The flags of the mapping that holds the address, from /proc/self/smaps; empty when there is none.
std::string flags_of(std::uintptr_t at) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) inside = begin <= at && at < end;
    if (inside && line.starts_with("VmFlags:")) return line;
  }
  return "";
}

TEST(HugeBuffer, AdvisesWholeHugePagesOnly) {
  auto buffer = HugeBuffer::create(5_MiB);
  ASSERT_THAT(buffer, IsOk());
  const std::string inside = flags_of(address(*buffer));
  if (inside.find(" hg") == std::string::npos && ::access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0) {
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  }
  EXPECT_NE(inside.find(" hg"), std::string::npos) << inside;
  EXPECT_NE(flags_of(address(*buffer) + 4_MiB - 1).find(" hg"), std::string::npos);
  EXPECT_EQ(flags_of(address(*buffer) + 4_MiB).find(" hg"), std::string::npos);
}

}  // namespace
}  // namespace shardwise
