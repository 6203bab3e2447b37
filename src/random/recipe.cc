#include "random/recipe.h"

namespace shardwise {
namespace {

template <typename A>
void set_range(Recipe<A>& recipe, typename A::Value low, typename A::Value high) {
  recipe.low = low;
  recipe.range = A::round(high - low);
}

// erf(limit / sqrt2) as JAX gets it: a running program multiplies by the reciprocal and has a polynomial for float32;
// the compiler, folding constants, divides and asks the C library.
template <typename A>
typename A::Value erf_of_limit(typename A::Value limit, typename A::Value sqrt2, Rounding rounding) {
  using Value = typename A::Value;
  const auto wide_erf = [](Value x) { return A::from_double(std::erf(static_cast<double>(x))); };
  if (rounding == Rounding::kJit) return wide_erf(A::round(limit / sqrt2));
  if constexpr (std::is_same_v<A, arithmetic::Float32>) return special::erf_f32(limit * (1 / sqrt2));
  if constexpr (std::is_same_v<A, arithmetic::Float64>) return wide_erf(limit * (1 / sqrt2));
  return A::round(special::erf_f32(static_cast<float>(A::round(limit / sqrt2))));
}

// XLA folds constants together in a compiled program, but not those of bfloat16, which stand behind conversions.
template <typename A>
bool folds(Rounding rounding) {
  return rounding == Rounding::kJit && !std::is_same_v<A, arithmetic::Bfloat16>;
}

// A constant of a compiled program becomes float16 in one step, an argument in two.
template <typename A>
typename A::Value scale_of(double x, Rounding rounding) {
  if constexpr (std::is_same_v<A, arithmetic::Float16>) {
    using namespace float_bits;
    if (rounding == Rounding::kJit) return A::value(convert<F64, F16>(std::bit_cast<std::uint64_t>(x)));
  }
  return A::from_double(x);
}

template <typename A>
void set_tail(Recipe<A>& recipe, double mean, double stddev, Rounding rounding) {
  recipe.stddev = scale_of<A>(stddev, rounding);
  recipe.mean = scale_of<A>(mean, rounding);
  if (stddev == 1 && mean == 0) return;
  recipe.tail = folds<A>(rounding) ? Tail::kFused : Tail::kSeparate;
}

constexpr double kSqrt2 = 1.4142135623730951;

}  // namespace

template <typename A>
Recipe<A> make_recipe(const random::Uniform& of, Rounding rounding) {
  Recipe<A> recipe;
  set_range<A>(recipe, A::from_double(of.minval), A::from_double(of.maxval));
  recipe.adds_once = folds<A>(rounding) && recipe.range == 1;
  recipe.low_less_one = A::round(recipe.low - 1);
  return recipe;
}

template <typename A>
Recipe<A> make_recipe(const random::Normal& of, Rounding rounding) {
  Recipe<A> recipe;
  set_range<A>(recipe, arithmetic::next_after<A>(-1, 0), 1);
  recipe.is_normal = true;
  recipe.factor = A::from_double(kSqrt2);
  set_tail(recipe, of.mean, of.stddev, rounding);
  if (recipe.tail == Tail::kFused) recipe.factor = A::round(recipe.factor * recipe.stddev);
  return recipe;
}

template <typename A>
Recipe<A> make_recipe(const random::TruncatedNormal& of, Rounding rounding) {
  using Value = typename A::Value;
  constexpr Value kInfinity = std::numeric_limits<Value>::infinity();
  Recipe<A> recipe;
  const Value sqrt2 = A::from_double(kSqrt2);
  const Value lower = A::from_double(of.lower);
  const Value upper = A::from_double(of.upper);
  set_range<A>(recipe, erf_of_limit<A>(lower, sqrt2, rounding), erf_of_limit<A>(upper, sqrt2, rounding));
  recipe.is_normal = true;
  recipe.factor = sqrt2;
  recipe.clips = true;
  recipe.clip_low = arithmetic::next_after<A>(lower, kInfinity);
  recipe.clip_high = arithmetic::next_after<A>(upper, -kInfinity);
  set_tail(recipe, of.mean, of.stddev, rounding);
  return recipe;
}

#define SHARDWISE_INSTANTIATE_(A)                                      \
  template Recipe<A> make_recipe<A>(const random::Uniform&, Rounding); \
  template Recipe<A> make_recipe<A>(const random::Normal&, Rounding);  \
  template Recipe<A> make_recipe<A>(const random::TruncatedNormal&, Rounding);
SHARDWISE_INSTANTIATE_(arithmetic::Float32)
SHARDWISE_INSTANTIATE_(arithmetic::Float64)
SHARDWISE_INSTANTIATE_(arithmetic::Float16)
SHARDWISE_INSTANTIATE_(arithmetic::Bfloat16)
#undef SHARDWISE_INSTANTIATE_

}  // namespace shardwise
