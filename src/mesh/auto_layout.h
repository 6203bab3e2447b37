// The choice of AutoParallel: one dimension, split over as many devices as divide it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shardwise/dtype.h"
#include "shardwise/layout.h"
#include "shardwise/mesh.h"
#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise {

// What a mesh offers. Immutable once made.
struct AutoRule {
  struct Split {
    std::int64_t parts = 1;
    std::string axes;  // "batch+model": outermost first
  };
  std::uint64_t min_bytes = 0;
  std::vector<Split> splits;  // most parts first, each number of parts once
};

// Nothing to split by when the mesh is refused or has one device.
AutoRule make_auto_rule(const DeviceMesh& mesh, std::uint64_t min_bytes);

// Errors: INVALID_ARGUMENT for a shape that element_count() refuses.
Result<TensorLayout> auto_layout(const AutoRule& rule, const Shape& shape, DType dtype);

}  // namespace shardwise
