// Inner product of 32-bit words, the loop of fingerprints. Chosen at run time for the processor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace shardwise {

// Sum of words[i] * factors[i] for i < count, mod 2^64. `words` needs no alignment.
using InnerProduct = std::uint64_t (*)(const std::byte* words, const std::uint32_t* factors, std::size_t count);
InnerProduct find_inner_product();

// The same of words[0 .. count) and of words[count .. 2 * count), with the same factors: each factor is loaded and
// prepared once for both, which takes two thirds of the time.
using TwoInnerProducts = std::array<std::uint64_t, 2> (*)(const std::byte* words, const std::uint32_t* factors,
                                                          std::size_t count);
TwoInnerProducts find_two_inner_products();

}  // namespace shardwise
