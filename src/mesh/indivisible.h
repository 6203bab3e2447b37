// What is said of a dimension that its mesh axes do not divide.
#pragma once

#include <cstdint>
#include <string>

#include "shardwise/shape.h"

namespace shardwise {

struct IndivisibleDimension {
  std::size_t dimension = 0;
  std::int64_t extent = 0;
  std::int64_t parts = 1;
  std::string axes;  // as the layout names them
};

// JAX's facts, then what would divide: other sizes of the axis, other sizes of the dimension, or leaving it whole.
std::string indivisible_text(const IndivisibleDimension& found, const Shape& shape);
// The note of Uneven::kReplicate.
std::string stays_whole_text(const IndivisibleDimension& found);

}  // namespace shardwise
