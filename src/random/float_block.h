// float32 values of a block, by run-time dispatch; equal to sample() on every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "random/recipe.h"

namespace shardwise {

// `out` needs no alignment. count <= kRandomBlock.
void make_float32(const Recipe<arithmetic::Float32>& recipe, const std::uint32_t* bits, std::size_t count,
                  std::byte* out);

}  // namespace shardwise
