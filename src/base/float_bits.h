// Exact conversions between binary floating-point formats, on bit patterns alone: the definition that the vector code
// must equal. Independent of the rounding and flush modes of the processor.
//
// Numbers round once, to nearest even, and overflow to infinity. NaNs are those of numpy and ml_dtypes:
//   float16 -> float32, float64          payload kept as it is, also of a signalling NaN
//   float32, float64 -> float16          top payload bits kept; 1 where these are 0
//   float64 <-> float32, bfloat16 -> float64   as the processor: payload kept or cut, quiet bit set
//   bfloat16 -> float32                  bits kept
//   any -> bfloat16, bfloat16 -> float16 the canonical quiet NaN with the sign of the source
// float64 -> bfloat16 rounds once; ml_dtypes rounds to float32 first, which differs in one value of 2^29 or so.
#pragma once

#include <bit>
#include <cstdint>

namespace shardwise::float_bits {

template <int kExponentBitsOf, int kFractionBitsOf, typename BitsOf>
struct Format {
  using Bits = BitsOf;
  static constexpr int kFraction = kFractionBitsOf;
  static constexpr int kExponent = kExponentBitsOf;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr int kSignShift = kExponent + kFraction;
  static constexpr std::uint64_t kInfinity = ((std::uint64_t{1} << kExponent) - 1) << kFraction;
  static constexpr std::uint64_t kMagnitude = (std::uint64_t{1} << kSignShift) - 1;
  static constexpr std::uint64_t kQuiet = std::uint64_t{1} << (kFraction - 1);
};
using F64 = Format<11, 52, std::uint64_t>;
using F32 = Format<8, 23, std::uint32_t>;
using F16 = Format<5, 10, std::uint16_t>;
using Bf16 = Format<8, 7, std::uint16_t>;

template <typename F>
constexpr bool is_nan(typename F::Bits bits) {
  return (bits & F::kMagnitude) > F::kInfinity;
}

// The float64 of the same value; NaN payloads move up unchanged.
template <typename F>
constexpr std::uint64_t widen(typename F::Bits bits) {
  const std::uint64_t sign = static_cast<std::uint64_t>(bits >> F::kSignShift) << 63;
  const std::uint64_t magnitude = bits & F::kMagnitude;
  constexpr int kUp = F64::kFraction - F::kFraction;
  if (magnitude >= F::kInfinity) return sign | F64::kInfinity | ((magnitude - F::kInfinity) << kUp);
  if (magnitude == 0) return sign;
  constexpr std::uint64_t kRebias = static_cast<std::uint64_t>(F64::kBias - F::kBias) << F64::kFraction;
  if (magnitude >> F::kFraction != 0 || kUp == 0) return sign | ((magnitude << kUp) + kRebias);
  // Subnormal: shift the leading one to where a float64's implicit one stands, which adds one to the exponent field.
  const int shift = std::countl_zero(magnitude) - (63 - F::kFraction);
  return sign | ((magnitude << (kUp + shift)) + kRebias - (static_cast<std::uint64_t>(shift) << F64::kFraction));
}

// The nearest value of format F to a float64 that is no NaN.
template <typename F>
constexpr typename F::Bits round(std::uint64_t bits) {
  using Bits = typename F::Bits;
  if constexpr (F::kFraction == F64::kFraction) return bits;
  const std::uint64_t sign = (bits >> 63) << F::kSignShift;
  const std::uint64_t magnitude = bits & F64::kMagnitude;
  if (magnitude == F64::kInfinity) return static_cast<Bits>(sign | F::kInfinity);
  const int field = static_cast<int>(magnitude >> F64::kFraction);
  const std::uint64_t significand =
      (magnitude & (F64::kQuiet * 2 - 1)) | (field != 0 ? std::uint64_t{1} << F64::kFraction : 0);
  const int exponent = (field != 0 ? field : 1) - F64::kBias;
  const int below = exponent < 1 - F::kBias ? 1 - F::kBias - exponent : 0;  // how far into F's subnormals
  const int shift = F64::kFraction - F::kFraction + below;
  if (shift > 54) return static_cast<Bits>(sign);
  std::uint64_t kept = significand >> shift;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // `kept` carries the implicit one of a normal number, which counts as one step of the exponent field.
  if (below == 0) kept += static_cast<std::uint64_t>(exponent + F::kBias - 1) << F::kFraction;
  return static_cast<Bits>(sign | (kept < F::kInfinity ? kept : F::kInfinity));
}

// How a NaN crosses from one format to another.
enum class Nan { kPayload, kQuiet, kCanonical };
template <typename From, typename To>
constexpr Nan nan_rule() {
  constexpr bool kFromBf16 = From::kFraction == Bf16::kFraction;
  constexpr bool kToF16 = To::kFraction == F16::kFraction;
  if (To::kFraction == Bf16::kFraction || (kFromBf16 && kToF16)) return Nan::kCanonical;
  if (From::kFraction == F16::kFraction || kToF16) return Nan::kPayload;
  if (kFromBf16 && To::kFraction == F32::kFraction) return Nan::kPayload;
  return Nan::kQuiet;
}

template <typename From, typename To>
constexpr typename To::Bits convert_nan(typename From::Bits bits) {
  const std::uint64_t sign = static_cast<std::uint64_t>(bits >> From::kSignShift) << To::kSignShift;
  constexpr Nan kRule = nan_rule<From, To>();
  std::uint64_t payload = To::kQuiet;
  if constexpr (kRule != Nan::kCanonical) {
    payload = (widen<From>(bits) & (F64::kQuiet * 2 - 1)) >> (F64::kFraction - To::kFraction);
    if (kRule == Nan::kQuiet) payload |= To::kQuiet;
    if (payload == 0) payload = 1;
  }
  return static_cast<typename To::Bits>(sign | To::kInfinity | payload);
}

template <typename From, typename To>
constexpr typename To::Bits convert(typename From::Bits bits) {
  if (is_nan<From>(bits)) return convert_nan<From, To>(bits);
  return round<To>(widen<From>(bits));
}

}  // namespace shardwise::float_bits
