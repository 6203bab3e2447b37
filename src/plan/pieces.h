// How values are made piece by piece: stretches of a shard, in row-major order, each of which is a box.
#pragma once

#include <cstdint>

#include "shardwise/shape.h"

namespace shardwise {

// Length of the piece of an array of shape `extent` that begins at element `first`: at most `most` elements (one at
// least), in whole steps of one dimension. Pieces taken one after the other from element 0 on cover the array; those of
// a row that takes several are about equally long. Precondition: first < elements, and pieces were taken from 0 on.
std::uint64_t piece_elements(const Shape& extent, std::uint64_t first, std::uint64_t most);

// Elements [first, first + count) of a box, a piece of it, as a box of the same tensor. Precondition: count > 0.
Box piece_box(const Box& box, std::uint64_t first, std::uint64_t count);

}  // namespace shardwise
