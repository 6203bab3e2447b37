// Do boxes tile a shape?
#pragma once

#include <vector>

#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise {

// OK when the boxes are disjoint and cover every element of `shape`; the caller has checked that each fits() it, has
// elements, and that the shape's element count does not overflow. Linear for the blocks of a regular grid;
// O(n log n * rank) for all that straight cuts can separate; UNIMPLEMENTED when an arrangement beyond that costs too
// much. Errors: DATA_LOSS naming two boxes that overlap, or how many elements no box provides. Reorders `boxes`.
Status check_tiling(const Shape& shape, std::vector<const Box*>& boxes);

}  // namespace shardwise
