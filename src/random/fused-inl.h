// a * b + c rounded once, also where the processor has no such instruction. Included once for each target.
#if defined(SHARDWISE_RANDOM_FUSED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDWISE_RANDOM_FUSED_INL_H_
#undef SHARDWISE_RANDOM_FUSED_INL_H_
#else
#define SHARDWISE_RANDOM_FUSED_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace shardwise::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <class D, class V>
HWY_INLINE V fused(D d, V a, V b, V c) {
  return hn::Set(d, std::fma(hn::GetLane(a), hn::GetLane(b), hn::GetLane(c)));
}

#elif HWY_NATIVE_FMA

template <class D, class V>
HWY_INLINE V fused(D /*d*/, V a, V b, V c) {
  return hn::MulAdd(a, b, c);
}

#else

// In float64 the product is exact. The sum is rounded to odd: of its two neighbours the one whose last bit is set,
// unless it is exact. Rounding that to float32 is rounding the exact sum. (Boldo and Melquiond, Emulation of FMA and
// correctly rounded sums.)
template <class D64, class V64>
HWY_INLINE V64 odd_sum(D64 d64, V64 product, V64 c) {
  const hn::RebindToSigned<D64> di64;
  const V64 sum = hn::Add(product, c);
  const V64 c_part = hn::Sub(sum, product);
  const V64 error = hn::Add(hn::Sub(product, hn::Sub(sum, c_part)), hn::Sub(c, c_part));
  const auto bits = hn::BitCast(di64, sum);
  const auto one = hn::Set(di64, 1);
  // Away from zero when the error has the sum's sign, else towards it: adds +1 or -1 to the bits.
  const auto signs = hn::BitCast(di64, hn::Xor(sum, error));
  const auto step = hn::Or(hn::BroadcastSignBit(signs), one);
  const auto even = hn::Eq(hn::And(bits, one), hn::Zero(di64));
  const auto inexact = hn::RebindMask(di64, hn::Ne(error, hn::Zero(d64)));
  return hn::BitCast(d64, hn::Add(bits, hn::IfThenElseZero(hn::And(even, inexact), step)));
}

template <class D, class V>
HWY_INLINE V fused(D d, V a, V b, V c) {
  const hn::Half<D> half;
  const hn::RepartitionToWide<D> d64;
  const auto lower = [&](V v) HWY_ATTR { return hn::PromoteTo(d64, hn::LowerHalf(half, v)); };
  const auto upper = [&](V v) HWY_ATTR { return hn::PromoteTo(d64, hn::UpperHalf(half, v)); };
  const auto low = odd_sum(d64, hn::Mul(lower(a), lower(b)), lower(c));
  const auto high = odd_sum(d64, hn::Mul(upper(a), upper(b)), upper(c));
  return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}

#endif

}  // namespace
}  // namespace shardwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
