#include "codec/filters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "codec/filter_testing.h"
#include "testing/dispatch_testing.h"

namespace shardwise {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;
using Kind = FilterStep::Kind;

constexpr FilterStep kDeflate{Kind::kDeflate, 0};
constexpr FilterStep kFletcher{Kind::kFletcher32, 0};
constexpr FilterStep shuffle(std::uint32_t size) { return {Kind::kShuffle, size}; }

Status decode(const std::vector<FilterStep>& steps, std::uint32_t skipped, const Bytes& stored, Bytes& target) {
  Bytes scratch(filter_scratch_bytes(steps, skipped, target.size()));
  return decode_block(steps, skipped, stored, target, scratch);
}

const std::vector<std::vector<FilterStep>>& chains() {
  static const auto* all = new std::vector<std::vector<FilterStep>>{
      {},
      {kDeflate},
      {shuffle(4)},
      {kFletcher},
      {shuffle(2), kDeflate},
      {shuffle(4), kDeflate, kFletcher},
      {kFletcher, shuffle(8), kDeflate},
      {shuffle(8), kFletcher, kDeflate, kFletcher},
      {kFletcher, kFletcher, shuffle(3), kFletcher, shuffle(2), kDeflate},
      {shuffle(2), shuffle(4), shuffle(8)},
      {shuffle(2), shuffle(4), shuffle(8), kDeflate},
      {kFletcher, kDeflate},
      {kFletcher, shuffle(16)},
      {shuffle(1), kDeflate},
      {shuffle(100000), kDeflate},
  };
  return *all;
}

TEST(DecodeBlock, UndoesEveryChain) {
  std::mt19937_64 random(1);
  for (const auto& steps : chains()) {
    for (std::size_t size : {0u, 1u, 2u, 3u, 4u, 7u, 8u, 15u, 16u, 63u, 64u, 65u, 127u, 1000u, 4096u, 70001u}) {
      for (std::uint32_t skipped : {0u, 1u, 2u, 5u}) {
        const Bytes plain = filter_testing::compressible_bytes(size, random);
        Bytes decoded(size, std::byte{0xaa});
        const dispatch_testing::RandomTarget target(random());
        const Status status = decode(steps, skipped, filter_testing::encode(steps, skipped, plain), decoded);
        ASSERT_TRUE(status.ok()) << status.to_string() << " size " << size << " steps " << steps.size();
        ASSERT_EQ(decoded, plain) << " size " << size << " steps " << steps.size() << " skipped " << skipped;
      }
    }
  }
}

TEST(DecodeBlock, NoticesEveryDamagedByteBehindAChecksum) {
  std::mt19937_64 random(2);
  for (const auto& steps :
       {std::vector{shuffle(4), kFletcher}, std::vector{kDeflate, kFletcher}, std::vector{kDeflate}}) {
    const Bytes plain = filter_testing::compressible_bytes(301, random);
    const Bytes stored = filter_testing::encode(steps, 0, plain);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      Bytes damaged = stored;
      damaged[i] ^= std::byte{0x10};
      Bytes decoded(plain.size());
      const Status status = decode(steps, 0, damaged, decoded);
      // A zlib stream holds a few bits that mean nothing: a hint in its head, the padding before its checksum.
      if (steps.back().kind == Kind::kDeflate && status.ok()) {
        ASSERT_EQ(decoded, plain) << i;
      } else {
        ASSERT_EQ(status.code(), Code::kDataLoss) << i;
      }
    }
  }
}

TEST(DecodeBlock, RefusesAStreamOfAnotherSize) {
  std::mt19937_64 random(3);
  const std::vector<FilterStep> steps = {kDeflate};
  const Bytes stored = filter_testing::encode(steps, 0, filter_testing::compressible_bytes(1000, random));
  Bytes shorter(999);
  EXPECT_THAT(decode(steps, 0, stored, shorter).to_string(), HasSubstr("DATA_LOSS: deflate stream inflates to more"));
  Bytes longer(1001);
  EXPECT_THAT(decode(steps, 0, stored, longer).to_string(), HasSubstr("inflates to 1000 bytes instead of 1001"));
  Bytes exact(1000);
  for (std::size_t cut : {std::size_t{0}, std::size_t{1}, stored.size() / 2, stored.size() - 1}) {
    const Bytes truncated(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(cut));
    EXPECT_THAT(decode(steps, 0, truncated, exact).to_string(), HasSubstr("ends early")) << cut;
  }
  Bytes longer_input = stored;
  longer_input.resize(stored.size() + 7);
  EXPECT_TRUE(decode(steps, 0, longer_input, exact).ok());  // as libhdf5
}

TEST(DecodeBlock, RefusesStoredBytesOfTheWrongSizeWithoutDeflate) {
  Bytes target(10);
  EXPECT_EQ(decode({}, 0, Bytes(9), target).code(), Code::kDataLoss);
  EXPECT_EQ(decode({shuffle(2)}, 0, Bytes(11), target).code(), Code::kDataLoss);
  EXPECT_EQ(decode({kFletcher}, 0, Bytes(10), target).code(), Code::kDataLoss);
  EXPECT_EQ(decode({kDeflate, kFletcher}, 0, Bytes(3), target).code(), Code::kDataLoss);
}

TEST(DecodeBlock, NamesChainsItDoesNotKnow) {
  Bytes target(8);
  EXPECT_EQ(decode({kDeflate, kDeflate}, 0, Bytes(8), target).code(), Code::kUnimplemented);
  EXPECT_EQ(decode({kDeflate, shuffle(2)}, 0, Bytes(8), target).code(), Code::kUnimplemented);
  EXPECT_EQ(decode({shuffle(0)}, 0, Bytes(8), target).code(), Code::kInvalidArgument);
  EXPECT_EQ(decode(std::vector<FilterStep>(33, kFletcher), 0, Bytes(8), target).code(), Code::kInvalidArgument);
  EXPECT_TRUE(decode({kDeflate, shuffle(2)}, 3, Bytes(8), target).ok());  // both skipped
}

TEST(DecodeBlock, RefusesScratchThatIsTooSmall) {
  std::mt19937_64 random(4);
  const std::vector<FilterStep> steps = {shuffle(4), kDeflate};
  Bytes target(100);
  const Bytes stored = filter_testing::encode(steps, 0, filter_testing::compressible_bytes(100, random));
  EXPECT_EQ(filter_scratch_bytes(steps, 0, 100), 100u);
  EXPECT_EQ(filter_scratch_bytes(steps, 1, 100), 0u);
  Bytes scratch(99);
  EXPECT_EQ(decode_block(steps, 0, stored, target, scratch).code(), Code::kInternal);
  EXPECT_EQ(filter_scratch_bytes(std::vector{kFletcher, shuffle(2), shuffle(2), kDeflate}, 0, ~std::uint64_t{0}),
            ~std::uint64_t{0});
}

TEST(Fletcher32, AcceptsTheByteOrderOfOldBigEndianWriters) {
  std::mt19937_64 random(5);
  const std::vector<FilterStep> steps = {kFletcher};
  const Bytes plain = filter_testing::compressible_bytes(50, random);
  Bytes stored = filter_testing::encode(steps, 0, plain);
  std::swap(stored[50], stored[51]);
  std::swap(stored[52], stored[53]);
  Bytes decoded(50);
  EXPECT_TRUE(decode(steps, 0, stored, decoded).ok());
}

TEST(Fletcher32, IsZeroOnlyForZeros) {
  EXPECT_EQ(fletcher32(Bytes(100)), 0u);
  EXPECT_EQ(fletcher32(Bytes(2, std::byte{0xff})), 0xffffffffu);
  EXPECT_EQ(fletcher32({}), 0u);
}

}  // namespace
}  // namespace shardwise
