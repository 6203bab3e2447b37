#include "codec/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/float_bits.h"
#include "testing/dispatch_testing.h"

namespace shardwise {
namespace {

using namespace float_bits;

// The value of a pattern, by the definition of the formats.
template <typename F>
double value_of(std::uint64_t bits) {
  const double sign = (bits >> F::kSignShift & 1) != 0 ? -1.0 : 1.0;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << F::kFraction) - 1);
  const int field = static_cast<int>(bits >> F::kFraction & ((1u << F::kExponent) - 1));
  if (field == (1 << F::kExponent) - 1) {
    return sign * (fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN());
  }
  const std::uint64_t significand = fraction + (field != 0 ? std::uint64_t{1} << F::kFraction : 0);
  return sign * std::ldexp(static_cast<double>(significand), (field != 0 ? field : 1) - F::kBias - F::kFraction);
}

// The pattern of the value nearest to x, found by bisection among all patterns; between two, the even one.
template <typename F>
std::uint64_t nearest(double x) {
  const std::uint64_t sign = std::signbit(x) ? std::uint64_t{1} << F::kSignShift : 0;
  x = std::fabs(x);
  std::uint64_t low = 0;
  std::uint64_t high = F::kInfinity;
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    (value_of<F>(middle) <= x ? low : high) = middle;
  }
  if (std::isinf(x)) return sign | F::kInfinity;
  // What would follow the largest number stands for infinity.
  const double below = value_of<F>(low);
  const double above = high == F::kInfinity ? std::ldexp(2.0, F::kBias) : value_of<F>(high);
  const double middle = below + (above - below) / 2;
  if (x == middle) return sign | (low % 2 == 0 ? low : high);
  return sign | (x < middle ? low : high);
}

// NaNs as numpy and ml_dtypes make them, written out pair by pair.
template <typename From, typename To>
std::uint64_t expected_nan(std::uint64_t bits) {
  const std::uint64_t sign = (bits >> From::kSignShift) << To::kSignShift;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << From::kFraction) - 1);
  constexpr int kShift = To::kFraction - From::kFraction;
  const std::uint64_t moved =
      kShift >= 0 ? fraction << (kShift >= 0 ? kShift : 0) : fraction >> (kShift < 0 ? -kShift : 0);
  if (To::kFraction == 7 || (From::kFraction == 7 && To::kFraction == 10)) return sign | To::kInfinity | To::kQuiet;
  if (From::kFraction == 10 || (From::kFraction == 7 && To::kFraction == 23)) return sign | To::kInfinity | moved;
  if (To::kFraction == 10) return sign | To::kInfinity | (moved == 0 ? 1 : moved);
  return sign | To::kInfinity | To::kQuiet | moved;
}

template <typename F>
DType dtype_of() {
  switch (F::kFraction) {
    case 52:
      return DType::kFloat64;
    case 23:
      return DType::kFloat32;
    case 10:
      return DType::kFloat16;
    default:
      return DType::kBfloat16;
  }
}

template <typename From, typename To>
std::uint64_t expected(typename From::Bits bits) {
  return is_nan<From>(bits) ? expected_nan<From, To>(bits) : nearest<To>(value_of<From>(bits));
}

template <typename From, typename To>
void expect_pair(const std::vector<typename From::Bits>& source, const std::vector<std::uint64_t>& wanted) {
  std::vector<typename To::Bits> target(source.size());
  const ConvertRun convert = find_convert(dtype_of<From>(), dtype_of<To>());
  ASSERT_NE(convert, nullptr);
  ASSERT_EQ(convert(reinterpret_cast<const std::byte*>(source.data()), reinterpret_cast<std::byte*>(target.data()),
                    source.size()),
            source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    ASSERT_EQ(target[i], wanted[i]) << std::hex << "0x" << source[i] << " " << to_string(dtype_of<From>()) << " -> "
                                    << to_string(dtype_of<To>());
  }
}

template <typename From, typename To>
void check_pair(const std::vector<typename From::Bits>& source) {
  std::vector<std::uint64_t> wanted;
  wanted.reserve(source.size());
  for (const auto bits : source) wanted.push_back(expected<From, To>(bits));
  dispatch_testing::for_each_target([&] { ASSERT_NO_FATAL_FAILURE((expect_pair<From, To>(source, wanted))); });
}

template <typename From, typename To>
void check_every_pattern() {
  std::vector<typename From::Bits> all(65536 + 3);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<typename From::Bits>(i);
  check_pair<From, To>(all);
}

TEST(Convert, EveryFloat16) {
  check_every_pattern<F16, F64>();
  check_every_pattern<F16, F32>();
  check_every_pattern<F16, Bf16>();
}

TEST(Convert, EveryBfloat16) {
  check_every_pattern<Bf16, F64>();
  check_every_pattern<Bf16, F32>();
  check_every_pattern<Bf16, F16>();
}

// Patterns of a wide format around everything that rounding to `Narrow` could get wrong: each of its values, the ties
// between neighbours, and what lies one step beside these; then noise.
template <typename Wide, typename Narrow>
std::vector<typename Wide::Bits> hard_patterns(std::size_t step) {
  std::mt19937_64 random(1);
  std::vector<typename Wide::Bits> patterns;
  for (std::size_t i = 0; i <= Narrow::kInfinity; i += 1 + random() % step) {
    const double low = value_of<Narrow>(i);
    const double high = i + 1 >= Narrow::kInfinity ? std::ldexp(2.0, Narrow::kBias) : value_of<Narrow>(i + 1);
    for (const double value : {low, low + (high - low) / 2}) {
      const auto bits = static_cast<typename Wide::Bits>(nearest<Wide>(value));
      for (int beside = -1; beside <= 1; ++beside) {
        const auto sign = static_cast<typename Wide::Bits>((random() & 1) << Wide::kSignShift);
        patterns.push_back(static_cast<typename Wide::Bits>(bits + static_cast<typename Wide::Bits>(beside)) ^ sign);
      }
    }
  }
  for (int i = 0; i < 20000; ++i) patterns.push_back(static_cast<typename Wide::Bits>(random()));
  for (int i = 0; i < 3000; ++i) {  // NaNs, also with few payload bits
    const std::uint64_t payload = std::uint64_t{1} << (random() % Wide::kFraction) | (random() & random() & random());
    patterns.push_back(static_cast<typename Wide::Bits>((random() << Wide::kSignShift) | Wide::kInfinity |
                                                        (payload & (Wide::kQuiet * 2 - 1))));
  }
  return patterns;
}

TEST(Convert, Float32AtEveryTieOfFloat16AndBfloat16) {
  check_pair<F32, F16>(hard_patterns<F32, F16>(2));
  check_pair<F32, Bf16>(hard_patterns<F32, Bf16>(2));
  check_pair<F32, F64>(hard_patterns<F32, Bf16>(2));
}

TEST(Convert, Float64AtTiesOfEveryNarrowerType) {
  check_pair<F64, F16>(hard_patterns<F64, F16>(2));
  check_pair<F64, Bf16>(hard_patterns<F64, Bf16>(2));
  check_pair<F64, F32>(hard_patterns<F64, F32>(100000));
}

TEST(Convert, Float64RoundsOnce) {
  // Rounding to float32 first makes a tie of this, which then goes the other way.
  const std::uint64_t just_above_tie = std::bit_cast<std::uint64_t>(1.0 + 0x1p-8 + 0x1p-40);
  check_pair<F64, Bf16>(std::vector<std::uint64_t>(40, just_above_tie));
  EXPECT_EQ((convert<F64, Bf16>(just_above_tie)), 0x3f81);
  EXPECT_EQ((convert<F64, F16>(std::bit_cast<std::uint64_t>(1.0 + 0x1p-11 + 0x1p-50))), 0x3c01);
}

TEST(Convert, NeverTouchesWhatLiesBehindTheRun) {
  std::vector<float> source(200, 1.5f);
  dispatch_testing::for_each_target([&] {
    for (std::size_t count = 0; count < 100; ++count) {
      std::vector<std::uint16_t> target(200, 0xabcd);
      find_convert(DType::kFloat32, DType::kBfloat16)(reinterpret_cast<const std::byte*>(source.data()),
                                                      reinterpret_cast<std::byte*>(target.data()), count);
      for (std::size_t i = 0; i < target.size(); ++i) ASSERT_EQ(target[i], i < count ? 0x3fc0 : 0xabcd);
    }
  });
}

TEST(Convert, IntegersOfEveryPairAtTheirLimits) {
  constexpr DType kTypes[] = {DType::kInt8,  DType::kInt16,  DType::kInt32,  DType::kInt64,
                              DType::kUint8, DType::kUint16, DType::kUint32, DType::kUint64};
  const auto range = [](DType d) {
    const int bits = bit_width(d) - (kind(d) == DTypeKind::kSigned ? 1 : 0);
    const __int128 top = (static_cast<__int128>(1) << bits) - 1;
    return std::pair<__int128, __int128>(kind(d) == DTypeKind::kSigned ? -top - 1 : 0, top);
  };
  for (const DType from : kTypes) {
    for (const DType to : kTypes) {
      if (from == to) continue;
      const auto [low, high] = range(from);
      const auto [to_low, to_high] = range(to);
      for (const __int128 edge : {low, high, to_low, to_high, static_cast<__int128>(0)}) {
        for (int beside = -1; beside <= 1; ++beside) {
          const __int128 value = edge + beside;
          if (value < low || value > high) continue;
          const auto pattern = static_cast<std::uint64_t>(value);
          std::uint64_t out = 0;
          const std::size_t done = find_convert(from, to)(reinterpret_cast<const std::byte*>(&pattern),
                                                          reinterpret_cast<std::byte*>(&out), 1);
          const bool fits = value >= to_low && value <= to_high;
          ASSERT_EQ(done, fits ? 1u : 0u) << to_string(from) << " -> " << to_string(to);
          ASSERT_TRUE(!fits || std::memcmp(&out, &pattern, std::min(byte_width(from), byte_width(to))) == 0);
        }
      }
    }
  }
}

TEST(Convert, ABoolIsWhateverIsNotZero) {
  const std::uint8_t source[] = {0, 1, 2, 255};
  std::int16_t target[4];
  ASSERT_EQ(find_convert(DType::kBool, DType::kInt16)(reinterpret_cast<const std::byte*>(source),
                                                      reinterpret_cast<std::byte*>(target), 4),
            4u);
  EXPECT_EQ(target[0], 0);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(target[i], 1);
}

TEST(Convert, KnowsThePairsOfCanCastAndNoOthers) {
  for (int from = 0; from < kDTypeCount; ++from) {
    for (int to = 0; to < kDTypeCount; ++to) {
      const bool wanted = from != to && can_cast(static_cast<DType>(from), static_cast<DType>(to));
      EXPECT_EQ(find_convert(static_cast<DType>(from), static_cast<DType>(to)) != nullptr, wanted) << from << " " << to;
    }
  }
}

}  // namespace
}  // namespace shardwise
