#include "random/recipe.h"

namespace shardwise {
namespace {

template <typename A>
void set_range(Recipe<A>& recipe, typename A::Value low, typename A::Value high) {
  recipe.low = low;
  recipe.range = A::round(high - low);
}

template <typename A>
typename A::Value erf(typename A::Value x) {
  if constexpr (std::is_same_v<typename A::Value, double>) {
    return special::erf_f64(x);
  } else {
    return A::round(special::erf_f32(x));
  }
}

template <typename A>
void set_tail(Recipe<A>& recipe, double mean, double stddev, Rounding rounding) {
  recipe.stddev = A::from_double(stddev);
  recipe.mean = A::from_double(mean);
  if (stddev == 1 && mean == 0) return;
  recipe.tail = rounding == Rounding::kJit ? Tail::kFused : Tail::kSeparate;
}

constexpr double kSqrt2 = 1.4142135623730951;

}  // namespace

template <typename A>
Recipe<A> make_recipe(const random::Uniform& of, Rounding rounding) {
  Recipe<A> recipe;
  set_range<A>(recipe, A::from_double(of.minval), A::from_double(of.maxval));
  recipe.adds_once = rounding == Rounding::kJit && recipe.range == 1;
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
  set_range<A>(recipe, erf<A>(A::round(lower / sqrt2)), erf<A>(A::round(upper / sqrt2)));
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
