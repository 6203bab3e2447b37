// From random bits to a value of a float dtype: the constants of a distribution, and the steps for one element. The
// vector code must equal sample().
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "random/arithmetic.h"
#include "random/special.h"
#include "random/special_f64.h"
#include "shardwise/random.h"

namespace shardwise {

// What follows the sampler: `* stddev`, `+ mean`.
enum class Tail : std::uint8_t { kNone, kSeparate, kFused };

template <typename A>
struct Recipe {
  using Value = typename A::Value;
  // u = max(low, (mantissa - one) * range + low), with mantissa in [1, 2).
  Value low = 0;
  Value range = 1;
  // A compiled uniform with a range of exactly 1 adds once: u = max(low, mantissa + low_less_one).
  bool adds_once = false;
  Value low_less_one = -1;
  bool is_normal = false;  // then u is mapped: erf_inv(u) * factor, clipped, and the tail
  Value factor = 1;
  bool clips = false;
  Value clip_low = 0;
  Value clip_high = 0;
  Tail tail = Tail::kNone;
  Value stddev = 1;
  Value mean = 0;
};

template <typename A>
typename A::Value erf_inv_ratio(typename A::Value u) {
  if (std::fabs(u) == 1) return std::numeric_limits<typename A::Value>::infinity();
  if constexpr (std::is_same_v<typename A::Value, double>) {
    return special::erf_inv_ratio_f64(u);
  } else {
    return special::erf_inv_ratio_f32(u);
  }
}

// The value for a mantissa's random bits: the low A::kFraction bits of `fraction`.
template <typename A>
typename A::Value sample(const Recipe<A>& recipe, typename A::Bits fraction) {
  using Value = typename A::Value;
  const auto mantissa = A::value(static_cast<typename A::Bits>(A::bits(Value{1}) | fraction));
  Value u =
      recipe.adds_once ? A::round(mantissa + recipe.low_less_one) : A::mul_add(mantissa - 1, recipe.range, recipe.low);
  u = u > recipe.low ? u : recipe.low;
  if (!recipe.is_normal) return u;
  const Value inverse = A::round(erf_inv_ratio<A>(u) * u);
  if (recipe.tail == Tail::kFused && !recipe.clips) return A::mul_add(inverse, recipe.factor, recipe.mean);
  Value x = A::round(inverse * recipe.factor);
  if (recipe.clips) x = x < recipe.clip_low ? recipe.clip_low : x > recipe.clip_high ? recipe.clip_high : x;
  if (recipe.tail == Tail::kSeparate) x = A::round(A::round(x * recipe.stddev) + recipe.mean);
  if (recipe.tail == Tail::kFused) x = A::mul_add(x, recipe.stddev, recipe.mean);
  return x;
}

template <typename A>
Recipe<A> make_recipe(const random::Uniform& of, Rounding rounding);
template <typename A>
Recipe<A> make_recipe(const random::Normal& of, Rounding rounding);
template <typename A>
Recipe<A> make_recipe(const random::TruncatedNormal& of, Rounding rounding);

}  // namespace shardwise
