// Strided copies with conversion: how elements get from a stored block into shards.
#pragma once

#include <cstddef>
#include <span>

#include "shardwise/dtype.h"
#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise {

// For every index (i0, i1, ...) below the extents of `dims`:
//   target[sum i_d * dims[d].target_stride] = convert(source[sum i_d * dims[d].source_stride])
// with strides in elements of the respective type. No dims: one element. Neither pointer needs any alignment. Targets
// are distinct. Any order of `dims` is legal; the copy reorders, merges and tiles as suits the memory.
// Precondition: can_cast(from, to), both byte-sized.
// Errors: INVALID_ARGUMENT when an integer does not fit `to` (names the value); the target is then partly written.
// Thread-safe.
Status strided_copy(std::span<const CopyDim> dims, const std::byte* source, DType from, std::byte* target, DType to);

// Writes `count` copies of one element of `width` bytes.
void fill_elements(std::byte* target, std::size_t count, std::span<const std::byte> element);

}  // namespace shardwise
