// The weighted sum that fingerprints are made of; docs/fingerprint.md defines it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace shardwise {

// The finaliser of splitmix64 (Steele, Lea and Flood): a one-to-one mixing of 64 bits.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Words of 32 bits that share one block factor.
inline constexpr std::uint64_t kFingerprintBlock = 1024;

// Factor of word `index` within its block: odd, and different for each.
constexpr std::array<std::uint32_t, kFingerprintBlock> fingerprint_word_factors() {
  std::array<std::uint32_t, kFingerprintBlock> factors{};
  for (std::uint64_t j = 0; j < kFingerprintBlock; ++j) {
    factors[j] = static_cast<std::uint32_t>(mix64(j + 1) >> 32) | 1;
  }
  return factors;
}

// Factor of block `index`: odd.
constexpr std::uint64_t fingerprint_block_factor(std::uint64_t index) {
  return mix64((index + 1) * 0x9e3779b97f4a7c15u) | 1;
}

// Sum over the 32-bit words k of the tensor's bytes of word(k) * word factor(k mod block) * block factor(k / block),
// mod 2^64, where only `bytes`, which begin at byte `offset` of the tensor, are not zero.
std::uint64_t weighted_sum(std::uint64_t offset, std::span<const std::byte> bytes);

}  // namespace shardwise
