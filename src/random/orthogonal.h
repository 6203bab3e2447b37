// Keras's Orthogonal initializer: a random matrix made orthogonal by LAPACK, as a whole.
#pragma once

#include "random/sources.h"
#include "shardwise/initializer.h"

namespace shardwise {

// The matrix and LAPACK's workspace; 0 for a shape or dtype that it does not have.
std::uint64_t orthogonal_host_bytes(const Shape& shape, DType dtype);

// shape has rank 2 or more, and dtype is float32 or float64. Errors: INVALID_ARGUMENT when a side is more than LAPACK
// counts; RESOURCE_EXHAUSTED when there is no memory.
Result<SourcePtr> make_orthogonal_source(RandomKey key, double gain, const Shape& shape, DType dtype);

}  // namespace shardwise
