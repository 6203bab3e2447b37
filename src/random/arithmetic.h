// The arithmetic of each float dtype, as XLA's CPU compiler does it: float32 and float64 with fused multiply-adds where
// a sum follows a product; float16 and bfloat16 in float32 with each result rounded, never fused.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/float_bits.h"

namespace shardwise::arithmetic {

struct Float32 {
  using Value = float;
  using Bits = std::uint32_t;
  static constexpr int kFraction = 23;
  static float round(float x) { return x; }
  static float from_double(double x) { return static_cast<float>(x); }
  static float mul_add(float a, float b, float c) { return std::fma(a, b, c); }
  static Bits bits(float x) { return std::bit_cast<Bits>(x); }
  static float value(Bits bits) { return std::bit_cast<float>(bits); }
};

struct Float64 {
  using Value = double;
  using Bits = std::uint64_t;
  static constexpr int kFraction = 52;
  static double round(double x) { return x; }
  static double from_double(double x) { return x; }
  static double mul_add(double a, double b, double c) { return std::fma(a, b, c); }
  static Bits bits(double x) { return std::bit_cast<Bits>(x); }
  static double value(Bits bits) { return std::bit_cast<double>(bits); }
};

// Values are kept as float32, always rounded to the format.
template <typename Format>
struct Small {
  using Value = float;
  using Bits = std::uint16_t;
  static constexpr int kFraction = Format::kFraction;
  static Bits bits(float x) { return float_bits::convert<float_bits::F32, Format>(std::bit_cast<std::uint32_t>(x)); }
  static float value(Bits bits) { return std::bit_cast<float>(float_bits::convert<Format, float_bits::F32>(bits)); }
  static float round(float x) { return value(bits(x)); }
  // As JAX brings Python's numbers in: through float32.
  static float from_double(double x) { return round(static_cast<float>(x)); }
  static float mul_add(float a, float b, float c) { return round(round(a * b) + c); }
};
using Float16 = Small<float_bits::F16>;
using Bfloat16 = Small<float_bits::Bf16>;

// The neighbour of x towards `to`.
template <typename A>
typename A::Value next_after(typename A::Value x, typename A::Value to) {
  if (x == to) return x;
  using Bits = typename A::Bits;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const Bits bits = A::bits(x);
  if (x == 0) return A::value(static_cast<Bits>(to > 0 ? 1 : kSign | 1));
  const bool away = (to > x) == (x > 0);
  return A::value(static_cast<Bits>(away ? bits + 1 : bits - 1));
}

}  // namespace shardwise::arithmetic
