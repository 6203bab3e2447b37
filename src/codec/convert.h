// Conversion of contiguous runs of elements from one type to another.
#pragma once

#include <cstddef>
#include <string>

#include "shardwise/dtype.h"

namespace shardwise {

// Converts `count` elements; neither pointer needs alignment; the ranges do not overlap. Returns how many elements,
// counted from the first, were converted before one that `to` cannot hold: `count` when all fit.
using ConvertRun = std::size_t (*)(const std::byte* source, std::byte* target, std::size_t count);

// The function for a pair with can_cast(from, to) and from != to; nullptr for any other pair.
ConvertRun find_convert(DType from, DType to);

// The parts find_convert is made of; nullptr for a pair that is not theirs.
ConvertRun find_float_convert(DType from, DType to);
ConvertRun find_integer_convert(DType from, DType to);

// Decimal text of an integer element.
std::string integer_text(const std::byte* element, DType dtype);

}  // namespace shardwise
