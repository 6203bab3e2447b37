// Arithmetic that says when it wraps. Every number that came from a file goes through these.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

namespace shardwise {

template <std::integral T>
std::optional<T> checked_add(T a, T b) {
  T sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

template <std::integral T>
std::optional<T> checked_mul(T a, T b) {
  T product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// Smallest multiple of `multiple` (a power of two) that is >= value; precondition: it does not wrap.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) & ~(multiple - 1);
}
constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t multiple) { return value & ~(multiple - 1); }
constexpr std::uint64_t ceil_div(std::uint64_t value, std::uint64_t by) { return value / by + (value % by != 0); }

}  // namespace shardwise
