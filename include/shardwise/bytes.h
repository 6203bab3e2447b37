// Quantities of bytes: literals, half-open ranges, and their text form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shardwise/status.h"

namespace shardwise {

inline namespace literals {
constexpr std::uint64_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr std::uint64_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr std::uint64_t operator""_GiB(unsigned long long n) { return n << 30; }
}  // namespace literals

// Bytes [begin, end) of a file or buffer. Invariant: begin <= end.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool contains(ByteRange other) const { return begin <= other.begin && other.end <= end; }
  friend bool operator==(ByteRange, ByteRange) = default;
};

// "[8, 136)".
std::string to_string(ByteRange range);

// Three significant digits with a binary unit: "0 B", "512 B", "1.5 KiB", "24 MiB", "2 GiB".
std::string format_bytes(std::uint64_t bytes);

// Reads "4096", "4096B", "96MiB", "1.5GiB", "2GB" (decimal), "64M" and "64MB" with optional blanks before the unit;
// K, M, G, T alone are binary. Errors: INVALID_ARGUMENT for anything else, negative numbers and overflow.
Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace shardwise
