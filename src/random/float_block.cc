#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "random/float_block.cc"
#include "random/float_block.h"

#include <hwy/foreach_target.h>  // includes this file again for each target
#include <hwy/highway.h>

#include <cstring>
#include <utility>

#include "random/fused-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardwise::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using arithmetic::Float32;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V set(float x) { return hn::Set(D(), x); }

template <std::size_t kCount, std::size_t... kStep>
HWY_INLINE V horner_steps(const std::array<float, kCount>& coefficients, V x, std::index_sequence<kStep...> /*steps*/) {
  V sum = set(coefficients[0]);
  ((sum = fused(D(), sum, x, set(coefficients[kStep + 1]))), ...);
  return sum;
}
template <std::size_t kCount>
HWY_INLINE V horner(const std::array<float, kCount>& coefficients, V x) {
  return horner_steps(coefficients, x, std::make_index_sequence<kCount - 1>());
}

// special::log_f32 for normal x.
HWY_INLINE V log_vector(V x) {
  const D d;
  const hn::RebindToSigned<D> di;
  using special::kLog;
  const auto bits = hn::BitCast(di, x);
  V e = hn::ConvertTo(d, hn::Sub(hn::ShiftRight<23>(bits), hn::Set(di, 126)));
  V t = hn::BitCast(d, hn::Or(hn::And(bits, hn::Set(di, 0x007fffff)), hn::Set(di, 0x3f000000)));
  const auto below = hn::Lt(t, set(special::kSqrtHalf));
  e = hn::Sub(e, hn::IfThenElseZero(below, set(1)));
  t = hn::Add(hn::Sub(t, set(1)), hn::IfThenElseZero(below, t));
  const V x2 = hn::Mul(t, t);
  const V x3 = hn::Mul(x2, t);
  const V y0 = fused(d, fused(d, t, set(kLog[0]), set(kLog[1])), t, set(kLog[2]));
  const V y1 = fused(d, fused(d, t, set(kLog[3]), set(kLog[4])), t, set(kLog[5]));
  const V y2 = fused(d, fused(d, t, set(kLog[6]), set(kLog[7])), t, set(kLog[8]));
  const V y = fused(d, fused(d, fused(d, y0, x3, y1), x3, y2), x3, hn::Mul(set(special::kLogQ1), e));
  t = hn::Add(hn::Sub(t, hn::Mul(set(0.5f), x2)), y);
  return fused(d, set(special::kLogQ2), e, t);
}

HWY_INLINE V log1p_vector(V x) {
  const V x2 = hn::Mul(x, x);
  const V quotient = hn::Div(horner(special::kLog1pNumerator, x), horner(special::kLog1pDenominator, x));
  const V small = hn::Add(x, hn::Add(hn::Mul(set(-0.5f), x2), hn::Mul(hn::Mul(x, x2), quotient)));
  const V large = log_vector(hn::Add(x, set(1)));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), set(special::kLog1pSmall)), small, large);
}

HWY_INLINE V erf_inv_ratio_vector(V x) {
  const D d;
  const V w = hn::Neg(log1p_vector(hn::Mul(x, hn::Neg(x))));
  V ratio = horner(special::kErfInvNear, hn::Sub(w, set(2.5f)));
  const auto near = hn::Lt(w, set(5));
  if (HWY_UNLIKELY(!hn::AllTrue(d, near))) {
    const V far = horner(special::kErfInvFar, hn::Sub(hn::Sqrt(w), set(3)));
    const V infinity = set(std::numeric_limits<float>::infinity());
    ratio = hn::IfThenElse(near, ratio, hn::IfThenElse(hn::Eq(hn::Abs(x), set(1)), infinity, far));
  }
  return ratio;
}

template <bool kAddsOnce>
HWY_INLINE V uniform_vector(const Recipe<Float32>& recipe, const std::uint32_t* bits) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const V mantissa = hn::BitCast(d, hn::Or(hn::ShiftRight<9>(hn::LoadU(du, bits)), hn::Set(du, Float32::bits(1.0f))));
  const V low = set(recipe.low);
  const V u = kAddsOnce ? hn::Add(mantissa, set(recipe.low_less_one))
                        : fused(d, hn::Sub(mantissa, set(1)), set(recipe.range), low);
  return hn::Max(u, low);
}

template <bool kClips, Tail kTail>
HWY_INLINE V normal_vector(const Recipe<Float32>& recipe, const std::uint32_t* bits) {
  const D d;
  const V u = uniform_vector<false>(recipe, bits);
  const V inverse = hn::Mul(erf_inv_ratio_vector(u), u);
  if constexpr (kTail == Tail::kFused && !kClips) return fused(d, inverse, set(recipe.factor), set(recipe.mean));
  V x = hn::Mul(inverse, set(recipe.factor));
  if constexpr (kClips) x = hn::Min(hn::Max(x, set(recipe.clip_low)), set(recipe.clip_high));
  if constexpr (kTail == Tail::kSeparate) x = hn::Add(hn::Mul(x, set(recipe.stddev)), set(recipe.mean));
  if constexpr (kTail == Tail::kFused) x = fused(d, x, set(recipe.stddev), set(recipe.mean));
  return x;
}

// As many whole vectors as `count` holds; returns how many elements.
template <class Make>
HWY_INLINE std::size_t for_each_vector(const Recipe<Float32>& recipe, const std::uint32_t* bits, std::size_t count,
                                       std::byte* out, const Make& make) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t done = 0;
  for (; done + lanes <= count; done += lanes) {
    hn::StoreU(make(recipe, bits + done), d, reinterpret_cast<float*>(out + done * sizeof(float)));
  }
  return done;
}

#define SHARDWISE_VECTORS_(make)            \
  for_each_vector(recipe, bits, count, out, \
                  [](const Recipe<Float32>& r, const std::uint32_t* b) HWY_ATTR { return make(r, b); })

std::size_t vector_float32(const Recipe<Float32>& recipe, const std::uint32_t* bits, std::size_t count,
                           std::byte* out) {
  if (!recipe.is_normal) {
    return recipe.adds_once ? SHARDWISE_VECTORS_(uniform_vector<true>) : SHARDWISE_VECTORS_(uniform_vector<false>);
  }
  switch (recipe.tail) {
    case Tail::kNone:
      return recipe.clips ? SHARDWISE_VECTORS_((normal_vector<true, Tail::kNone>))
                          : SHARDWISE_VECTORS_((normal_vector<false, Tail::kNone>));
    case Tail::kSeparate:
      return recipe.clips ? SHARDWISE_VECTORS_((normal_vector<true, Tail::kSeparate>))
                          : SHARDWISE_VECTORS_((normal_vector<false, Tail::kSeparate>));
    case Tail::kFused:
      return recipe.clips ? SHARDWISE_VECTORS_((normal_vector<true, Tail::kFused>))
                          : SHARDWISE_VECTORS_((normal_vector<false, Tail::kFused>));
  }
  return 0;
}
#undef SHARDWISE_VECTORS_

}  // namespace
}  // namespace shardwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardwise {

HWY_EXPORT(vector_float32);

void make_float32(const Recipe<arithmetic::Float32>& recipe, const std::uint32_t* bits, std::size_t count,
                  std::byte* out) {
  std::size_t done = HWY_DYNAMIC_DISPATCH(vector_float32)(recipe, bits, count, out);
  for (; done < count; ++done) {
    const float value = sample(recipe, bits[done] >> (32 - arithmetic::Float32::kFraction));
    std::memcpy(out + done * sizeof(value), &value, sizeof(value));
  }
}

}  // namespace shardwise
#endif
