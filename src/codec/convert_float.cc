// Conversions among float64, float32, float16 and bfloat16: vector code for what is common, float_bits.h for the rest.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/convert_float.cc"
#include <hwy/foreach_target.h>  // includes this file again for each target
#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

#include "base/float_bits.h"
#include "codec/convert.h"

HWY_BEFORE_NAMESPACE();
namespace shardwise::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using namespace float_bits;

template <typename From, typename To>
void convert_plain(const std::byte* source, std::byte* target, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    typename From::Bits bits;
    std::memcpy(&bits, source + i * sizeof(bits), sizeof(bits));
    const typename To::Bits converted = convert<From, To>(bits);
    std::memcpy(target + i * sizeof(converted), &converted, sizeof(converted));
  }
}

template <typename A, typename B>
inline constexpr bool kIs = std::is_same_v<A, B>;

#if HWY_TARGET == HWY_SCALAR

template <typename From, typename To>
std::size_t convert_run(const std::byte* source, std::byte* target, std::size_t count) {
  convert_plain<From, To>(source, target, count);
  return count;
}

#else

// Processors without instructions for float16 convert it one element at a time.
inline constexpr bool kHasF16 =
    HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON;

// Elements of format F as float32.
template <typename F, class D32>
HWY_INLINE hn::Vec<D32> load_f32(D32 d32, const std::byte* source) {
  const hn::RebindToUnsigned<D32> du32;
  if constexpr (kIs<F, F32>) {
    return hn::LoadU(d32, reinterpret_cast<const float*>(source));
  } else if constexpr (kIs<F, Bf16>) {
    const hn::Rebind<std::uint16_t, D32> du16;
    const auto bits = hn::LoadU(du16, reinterpret_cast<const std::uint16_t*>(source));
    return hn::BitCast(d32, hn::ShiftLeft<16>(hn::PromoteTo(du32, bits)));
  } else {
    const hn::Rebind<hwy::float16_t, D32> df16;
    return hn::PromoteTo(d32, hn::LoadU(df16, reinterpret_cast<const hwy::float16_t*>(source)));
  }
}

// Rounds to the nearest multiple of 2^16 on the bits, ties to even; a carry moves into the exponent as it should.
template <class D32>
HWY_INLINE void store_bf16(D32 /*tag*/, hn::Vec<D32> value, std::byte* target) {
  const hn::RebindToUnsigned<D32> du32;
  const hn::RebindToSigned<D32> di32;
  const hn::Rebind<std::uint16_t, D32> du16;
  const auto bits = hn::BitCast(du32, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du32, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du32, 0x7fff))));
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du32, 0x8000));
  const auto nan = hn::Or(sign, hn::Set(du32, Bf16::kInfinity | Bf16::kQuiet));
  const auto chosen = hn::IfThenElse(hn::RebindMask(du32, hn::IsNaN(value)), nan, rounded);
  hn::StoreU(hn::DemoteTo(du16, hn::BitCast(di32, chosen)), du16, reinterpret_cast<std::uint16_t*>(target));
}

template <typename F, class D32>
HWY_INLINE void store_f32(D32 d32, hn::Vec<D32> value, std::byte* target) {
  if constexpr (kIs<F, F32>) {
    hn::StoreU(value, d32, reinterpret_cast<float*>(target));
  } else if constexpr (kIs<F, Bf16>) {
    store_bf16(d32, value, target);
  } else {
    const hn::Rebind<hwy::float16_t, D32> df16;
    hn::StoreU(hn::DemoteTo(df16, value), df16, reinterpret_cast<hwy::float16_t*>(target));
  }
}

// A float64 cut to the 24 bits of a float32, the last of them set when anything was lost: rounding that to 22 bits or
// fewer gives what rounding the whole would.
template <class D64>
HWY_INLINE hn::Vec<D64> round_to_odd(D64 d64, hn::Vec<D64> value) {
  const hn::RebindToUnsigned<D64> du64;
  const auto bits = hn::BitCast(du64, value);
  const auto low = hn::Set(du64, (std::uint64_t{1} << 29) - 1);
  // Adding all ones below carries into bit 29 when any of them is set.
  const auto sticky = hn::And(hn::Add(hn::And(bits, low), low), hn::Set(du64, std::uint64_t{1} << 29));
  return hn::BitCast(d64, hn::Or(hn::AndNot(low, bits), sticky));
}

// A float64 rounded to the 8 bits of a bfloat16; right for those that are normal numbers in bfloat16.
template <class D64>
HWY_INLINE hn::Vec<D64> round_to_bf16(D64 d64, hn::Vec<D64> value) {
  constexpr int kCut = F64::kFraction - Bf16::kFraction;
  const hn::RebindToUnsigned<D64> du64;
  const auto bits = hn::BitCast(du64, value);
  const auto odd = hn::And(hn::ShiftRight<kCut>(bits), hn::Set(du64, 1));
  const auto half = hn::Set(du64, (std::uint64_t{1} << (kCut - 1)) - 1);
  const auto sum = hn::Add(bits, hn::Add(odd, half));
  return hn::BitCast(d64, hn::AndNot(hn::Set(du64, (std::uint64_t{1} << kCut) - 1), sum));
}

// Converts the elements of one vector; false when some of them need convert_plain().
template <typename From, typename To>
HWY_INLINE bool convert_vector(const std::byte* source, std::byte* target) {
  constexpr bool kKeepsPayload = nan_rule<From, To>() == Nan::kPayload && !(kIs<From, Bf16> && kIs<To, F32>);
  constexpr bool kCheckNan = kKeepsPayload || kIs<To, F16>;
  if constexpr (kIs<From, F64>) {
    const hn::ScalableTag<double> d64;
    const hn::Rebind<float, decltype(d64)> d32;
    auto value = hn::LoadU(d64, reinterpret_cast<const double*>(source));
    if constexpr (kIs<To, F16>) {
      if (!hn::AllFalse(d64, hn::IsNaN(value))) return false;
      value = round_to_odd(d64, value);
    } else if constexpr (kIs<To, Bf16>) {
      const auto size = hn::Abs(value);
      const auto normal = hn::Or(hn::Ge(size, hn::Set(d64, 0x1p-126)), hn::Eq(size, hn::Zero(d64)));
      if (!hn::AllTrue(d64, normal)) return false;
      value = round_to_bf16(d64, value);
    }
    store_f32<To>(d32, hn::DemoteTo(d32, value), target);
  } else if constexpr (kIs<To, F64>) {
    const hn::ScalableTag<double> d64;
    const hn::Rebind<float, decltype(d64)> d32;
    const auto value = load_f32<From>(d32, source);
    if (kCheckNan && !hn::AllFalse(d32, hn::IsNaN(value))) return false;
    hn::StoreU(hn::PromoteTo(d64, value), d64, reinterpret_cast<double*>(target));
  } else {
    const hn::ScalableTag<float> d32;
    const auto value = load_f32<From>(d32, source);
    if (kCheckNan && !hn::AllFalse(d32, hn::IsNaN(value))) return false;
    store_f32<To>(d32, value, target);
  }
  return true;
}

template <typename From, typename To>
std::size_t convert_run(const std::byte* source, std::byte* target, std::size_t count) {
  constexpr std::size_t kFrom = sizeof(typename From::Bits);
  constexpr std::size_t kTo = sizeof(typename To::Bits);
  constexpr bool kWide = kIs<From, F64> || kIs<To, F64>;
  std::size_t done = 0;
  if constexpr (kHasF16 || (!kIs<From, F16> && !kIs<To, F16>)) {
    const std::size_t lanes = kWide ? hn::Lanes(hn::ScalableTag<double>()) : hn::Lanes(hn::ScalableTag<float>());
    for (; done + lanes <= count; done += lanes) {
      if (convert_vector<From, To>(source + done * kFrom, target + done * kTo)) continue;
      convert_plain<From, To>(source + done * kFrom, target + done * kTo, lanes);
    }
  }
  convert_plain<From, To>(source + done * kFrom, target + done * kTo, count - done);
  return count;
}

#endif

template <typename From>
ConvertRun find_from(DType to) {
  switch (to) {
    case DType::kFloat64:
      return convert_run<From, F64>;
    case DType::kFloat32:
      return convert_run<From, F32>;
    case DType::kFloat16:
      return convert_run<From, F16>;
    case DType::kBfloat16:
      return convert_run<From, Bf16>;
    default:
      return nullptr;
  }
}

ConvertRun find_float(DType from, DType to) {
  switch (from) {
    case DType::kFloat64:
      return find_from<F64>(to);
    case DType::kFloat32:
      return find_from<F32>(to);
    case DType::kFloat16:
      return find_from<F16>(to);
    case DType::kBfloat16:
      return find_from<Bf16>(to);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace shardwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardwise {

HWY_EXPORT(find_float);

ConvertRun find_float_convert(DType from, DType to) {
  if (from == to) return nullptr;
  return HWY_DYNAMIC_DISPATCH(find_float)(from, to);
}

}  // namespace shardwise
#endif
