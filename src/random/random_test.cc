// Golden values of JAX 0.10.2 on x86-64 with fused multiply-add; tests/random/ compares with an installed JAX.
#include "shardwise/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random/random_testing.h"
#include "testing/dispatch_testing.h"
#include "testing/matchers.h"

namespace shardwise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::uint32_t>;

template <typename T>
std::vector<T> make(RandomKey key, const random::Distribution& of, std::int64_t count, DType dtype) {
  return random_testing::values<T>(key, of, {count}, dtype);
}
Words float_bits_of(RandomKey key, const random::Distribution& of) {
  return make<std::uint32_t>(key, of, 4, DType::kFloat32);
}

struct Golden {
  RandomKey key;
  Words bits;
  Words uniform;
  Words normal;
  Words truncated;
};
const Golden kGolden[] = {
    {{42, 0},
     {0x911532a1, 0x10c7cdb8, 0x61b54987, 0xb6433e01},
     {0x3bdaa8e7, 0xbd31f387, 0xbc41de33, 0x3cada3fa},
     {0x3e2c1669, 0xbfc140c2, 0xbe9a28a7, 0x3f0f2329},
     {0x3e243037, 0xbfaf61dc, 0xbe92f19c, 0x3f07f504}},
    {{0, 42},
     {0x7d1c13a2, 0xae0730d9, 0x9dc3f9f9, 0x8f9ec1d7},
     {0xba93fc67, 0x3c934a33, 0x3c3e7fcd, 0x3bc7f000},
     {0xbce7df15, 0x3eef2be8, 0x3e976661, 0x3e1d3b24},
     {0xbcdd51b4, 0x3ee385e2, 0x3e905231, 0x3e160635}},
    {{1337, 0},
     {0xbfd69700, 0x9922df03, 0x4f16c9d8, 0xc254e854},
     {0x3ccc4847, 0x3c20df27, 0xbc9c83e7, 0x3cd442e7},
     {0x3f2c2921, 0x3e7ea0df, 0xbeff69b3, 0x3f341469},
     {0x3f232360, 0x3e72d14e, 0xbef2da8d, 0x3f2a83ed}},
};

TEST(Random, GoldenFloat32) {
  for (const Golden& golden : kGolden) {
    EXPECT_EQ(make<std::uint32_t>(golden.key, random::Bits{}, 4, DType::kUint32), golden.bits);
    EXPECT_EQ(float_bits_of(golden.key, random::Uniform{-0.05, 0.05}), golden.uniform);
    EXPECT_EQ(float_bits_of(golden.key, random::Normal{}), golden.normal);
    EXPECT_EQ(float_bits_of(golden.key, random::TruncatedNormal{}), golden.truncated);
  }
  EXPECT_EQ(float_bits_of({42, 0}, random::Uniform{}), (Words{0x3f111532, 0x3d863e60, 0x3ec36a90, 0x3f36433e}));
}

TEST(Random, GoldenSmallFloats) {
  EXPECT_THAT(make<std::uint16_t>(jax_key(42), random::Normal{}, 4, DType::kFloat16),
              ElementsAre(48568, 47873, 16358, 14739));
  // 0.34375, 1.015625, 1.890625, 0.984375
  EXPECT_THAT(make<std::uint16_t>(jax_key(42), random::Normal{}, 4, DType::kBfloat16),
              ElementsAre(0x3eb0, 0x3f82, 0x3ff2, 0x3f7c));
  // 0.6328125, 0.84375, 0.96875, 0.8359375
  EXPECT_THAT(make<std::uint16_t>(jax_key(42), random::Uniform{}, 4, DType::kBfloat16),
              ElementsAre(0x3f22, 0x3f58, 0x3f78, 0x3f56));
}

TEST(Random, GoldenIntegers) {
  EXPECT_THAT(make<std::uint8_t>(jax_key(1701), random::Bits{}, 3, DType::kUint8), ElementsAre(37, 59, 52));
  EXPECT_THAT(make<std::uint16_t>(jax_key(1701), random::Bits{}, 3, DType::kUint16), ElementsAre(42789, 29755, 60468));
  EXPECT_THAT(make<std::uint64_t>(jax_key(1701), random::Bits{}, 3, DType::kUint64),
              ElementsAre(3182764935064573181u, 366096495144982249u, 241365115613244543u));
  EXPECT_THAT(make<std::int32_t>(jax_key(0), random::RandInt{0, 8}, 9, DType::kInt32),
              ElementsAre(5, 0, 0, 5, 3, 3, 0, 7, 5));
  EXPECT_THAT(make<std::uint8_t>(jax_key(0), random::Bernoulli{0.5}, 8, DType::kBool),
              ElementsAre(0, 0, 1, 1, 0, 1, 1, 0));
  EXPECT_THAT(*random::permutation(jax_key(0), 8), ElementsAre(0, 1, 5, 6, 4, 3, 2, 7));
}

TEST(Random, ShuffleMovesRows) {
  std::vector<std::uint16_t> rows;
  for (std::uint16_t i = 0; i < 8; ++i) rows.insert(rows.end(), {i, i});
  ASSERT_TRUE(random::shuffle(jax_key(0), std::as_writable_bytes(std::span(rows)), 4).ok());
  EXPECT_THAT(rows, ElementsAre(0, 0, 1, 1, 5, 5, 6, 6, 4, 4, 3, 3, 2, 2, 7, 7));
  EXPECT_EQ(random::shuffle(jax_key(0), std::as_writable_bytes(std::span(rows)), 5).code(), Code::kInvalidArgument);
}

TEST(Random, EmptyRangesOfIntegersGiveTheMinimum) {
  EXPECT_THAT(make<std::int8_t>(jax_key(3), random::RandInt{5, 5}, 3, DType::kInt8), ElementsAre(5, 5, 5));
  EXPECT_THAT(make<std::int8_t>(jax_key(3), random::RandInt{5, -7}, 3, DType::kInt8), ElementsAre(5, 5, 5));
}

TEST(Random, RefusesWhatTheDistributionDoesNotHave) {
  const auto refusal = [](const random::Distribution& of, const Shape& shape, DType dtype) {
    const Status status = random::check(of, shape, dtype);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    return status.message();
  };
  EXPECT_THAT(refusal(random::Normal{}, {4}, DType::kInt32), HasSubstr("only accepts floating point dtypes"));
  EXPECT_THAT(refusal(random::Bits{}, {4}, DType::kInt32), HasSubstr("uint32"));
  EXPECT_THAT(refusal(random::RandInt{0, 4}, {4}, DType::kFloat32), HasSubstr("integer dtypes"));
  EXPECT_THAT(refusal(random::Bernoulli{}, {4}, DType::kInt8), HasSubstr("bool"));
  EXPECT_THAT(refusal(random::TruncatedNormal{.lower = 2, .upper = 1}, {4}, DType::kFloat32), HasSubstr("between"));
  EXPECT_THAT(refusal(random::Uniform{0, std::numeric_limits<double>::infinity()}, {4}, DType::kFloat32),
              HasSubstr("inf"));
  EXPECT_THAT(refusal(random::Uniform{}, {-1}, DType::kFloat32), HasSubstr("negative"));
}

TEST(Random, RefusesBoxesAndSizesThatDoNotFit) {
  std::vector<std::byte> out(16);
  const auto code = [&](const Box& box, std::size_t bytes) {
    return random::normal(jax_key(1), {4, 4}, DType::kFloat32, {}, box, std::span(out).first(bytes)).code();
  };
  EXPECT_EQ(code({{0, 0}, {2, 2}}, 16), Code::kOk);
  EXPECT_EQ(code({{0, 0}, {2, 2}}, 12), Code::kInvalidArgument);
  EXPECT_EQ(code({{3, 0}, {2, 2}}, 16), Code::kInvalidArgument);
  EXPECT_EQ(code({{0}, {4}}, 16), Code::kInvalidArgument);
  const Generator four = *random::make_generator(jax_key(1), random::Bits{}, {4}, DType::kUint32);
  EXPECT_EQ(four.generate_range(0, out).code(), Code::kOk);
  EXPECT_EQ(four.generate_range(1, out).code(), Code::kInvalidArgument);
  EXPECT_EQ(four.generate_range(0, std::span(out).first(7)).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace shardwise
