#include "random/variance.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace shardwise {
namespace {

// Standard deviation of a standard normal distribution cut at -2 and 2.
constexpr double kTruncatedDeviation = 0.87962566103423978;

double fan_of(VarianceMode mode, Fans fans) {
  switch (mode) {
    case VarianceMode::kFanIn:
      return static_cast<double>(fans.in);
    case VarianceMode::kFanOut:
      return static_cast<double>(fans.out);
    case VarianceMode::kFanAvg:
      break;
  }
  return static_cast<double>(fans.in + fans.out) / 2;
}

}  // namespace

Result<random::Distribution> distribution_of(const VarianceScalingOptions& options, const Shape& shape) {
  if (!(options.scale > 0) || !std::isfinite(options.scale)) {
    return invalid_argument("Argument `scale` must be positive float. Received: scale={:#}", options.scale);
  }
  SHARDWISE_ASSIGN_OR_RETURN(const Fans fans, compute_fans(shape, options.input_axes, options.output_axes));
  const double scale = options.scale / std::max(1.0, fan_of(options.mode, fans));
  switch (options.distribution) {
    case VarianceDistribution::kTruncatedNormal:
      return random::Distribution(random::TruncatedNormal{.stddev = std::sqrt(scale) / kTruncatedDeviation});
    case VarianceDistribution::kUntruncatedNormal:
      return random::Distribution(random::Normal{.stddev = std::sqrt(scale)});
    case VarianceDistribution::kUniform:
      break;
  }
  const double limit = std::sqrt(3 * scale);
  return random::Distribution(random::Uniform{.minval = -limit, .maxval = limit});
}

}  // namespace shardwise
