// The threefry2x32 block function with 20 rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3), and how
// JAX makes bits of its blocks in partitionable mode.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "shardwise/seed.h"

namespace shardwise {

struct ThreefryBlock {
  std::uint32_t a;
  std::uint32_t b;
};

inline constexpr std::array<std::array<int, 4>, 2> kThreefryRotations = {{{13, 15, 26, 6}, {17, 29, 16, 24}}};

constexpr std::array<std::uint32_t, 3> threefry_subkeys(RandomKey key) {
  return {key.a, key.b, key.a ^ key.b ^ 0x1BD11BDAu};
}

constexpr ThreefryBlock threefry(RandomKey key, std::uint64_t counter) {
  const auto subkeys = threefry_subkeys(key);
  std::uint32_t a = static_cast<std::uint32_t>(counter >> 32) + subkeys[0];
  std::uint32_t b = static_cast<std::uint32_t>(counter) + subkeys[1];
  for (std::uint32_t group = 0; group < 5; ++group) {
    for (const int rotation : kThreefryRotations[group % 2]) {
      a += b;
      b = std::rotl(b, rotation) ^ a;
    }
    a += subkeys[(group + 1) % 3];
    b += subkeys[(group + 2) % 3] + group + 1;
  }
  return {a, b};
}

// Bits of element `index`; 8 and 16 of them are the low ones of 32.
constexpr std::uint32_t stream_bits32(RandomKey key, std::uint64_t index) {
  const ThreefryBlock block = threefry(key, index);
  return block.a ^ block.b;
}
constexpr std::uint64_t stream_bits64(RandomKey key, std::uint64_t index) {
  const ThreefryBlock block = threefry(key, index);
  return (std::uint64_t{block.a} << 32) | block.b;
}

}  // namespace shardwise
