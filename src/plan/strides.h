// Row-major strides, in elements.
#pragma once

#include <cstdint>
#include <vector>

#include "shardwise/shape.h"

namespace shardwise {

// Stride of each dimension of a dense row-major array. An extent of 0 counts as 1, so that strides stay meaningful.
inline std::vector<std::int64_t> row_major_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * (shape[d] > 0 ? shape[d] : 1);
  return strides;
}

}  // namespace shardwise
