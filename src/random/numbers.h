// One number in any dtype.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "shardwise/dtype.h"
#include "shardwise/status.h"

namespace shardwise {

using ElementBytes = std::array<std::byte, 16>;

// The first byte_width(dtype) bytes are `value` in that dtype: floats rounded to nearest even, integers cut as numpy
// cuts, bool as "is not 0". Errors: INVALID_ARGUMENT for what an integer dtype cannot hold; UNIMPLEMENTED for sub-byte
// dtypes, and for numbers other than 0 and 1 in float8.
Result<ElementBytes> encode_number(double value, DType dtype);

// Converts elements; neither span needs alignment. Errors: UNIMPLEMENTED for a pair with a dtype that is neither bool,
// an integer, float16, bfloat16, float32 nor float64, unless both are the same; INVALID_ARGUMENT as above.
Status cast_numbers(DType from, std::span<const std::byte> source, DType to, std::span<std::byte> target);

}  // namespace shardwise
