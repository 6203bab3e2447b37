// How many characters a part of a regular expression can match: what Python's lookbehind is checked with.
#pragma once

#include <algorithm>
#include <cstdint>

namespace shardwise {

// Least and most characters, both capped at kMost ("any number").
struct RegexWidth {
  static constexpr std::uint64_t kMost = 0xffffffffu;
  std::uint64_t least = 0;
  std::uint64_t most = 0;

  bool is_fixed() const { return least == most; }
  // This followed by `next`.
  RegexWidth then(RegexWidth next) const {
    return {std::min(kMost, least + next.least), std::min(kMost, most + next.most)};
  }
  // This or `other`.
  RegexWidth either(RegexWidth other) const { return {std::min(least, other.least), std::max(most, other.most)}; }
  // This, `from` to `to` times; to == kMost: any number. Factors below 2^32 keep the products in range.
  RegexWidth repeated(std::uint64_t from, std::uint64_t to) const {
    return {std::min(kMost, least * from), std::min(kMost, most * to)};
  }
};

}  // namespace shardwise
