// Inner product of 32-bit words, the loop of fingerprints. Chosen at run time for the processor.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shardwise {

// Sum of words[i] * factors[i] for i < count, mod 2^64. `words` needs no alignment.
using InnerProduct = std::uint64_t (*)(const std::byte* words, const std::uint32_t* factors, std::size_t count);
InnerProduct find_inner_product();

}  // namespace shardwise
