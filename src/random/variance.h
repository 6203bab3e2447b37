// The distribution that a VarianceScaling draws from.
#pragma once

#include "shardwise/initializer.h"

namespace shardwise {

// Errors: INVALID_ARGUMENT for a scale that is not positive, and those of compute_fans().
Result<random::Distribution> distribution_of(const VarianceScalingOptions& options, const Shape& shape);

}  // namespace shardwise
