#include <cmath>

#include "base/format.h"
#include "random/numbers.h"
#include "random/stft.h"
#include "random/variance.h"
#include "shardwise/initializer.h"

namespace shardwise {
namespace {

struct Check {
  const Shape& shape;
  DType dtype;

  Status operator()(const Initializer::Constant& of) const { return encode_number(of.value, dtype).status(); }
  Status operator()(const Initializer::Identity& of) const {
    if (shape.size() == 2) return encode_number(of.gain, dtype).status();
    return invalid_argument(
        "Identity matrix initializer can only be used for 2D matrices. Received: shape={} of rank {}.",
        to_string(shape), shape.size());
  }
  Status operator()(const RandomNormalOptions& of) const {
    return drawn(of.seed, random::Normal{.mean = of.mean, .stddev = of.stddev});
  }
  Status operator()(const TruncatedNormalOptions& of) const {
    return drawn(of.seed, random::TruncatedNormal{.mean = of.mean, .stddev = of.stddev});
  }
  Status operator()(const RandomUniformOptions& of) const {
    return drawn(of.seed, random::Uniform{.minval = of.minval, .maxval = of.maxval});
  }
  Status operator()(const VarianceScalingOptions& of) const {
    SHARDWISE_ASSIGN_OR_RETURN(const random::Distribution distribution, distribution_of(of, shape));
    return drawn(of.seed, distribution);
  }
  Status operator()(const OrthogonalOptions& of) const {
    if (shape.size() < 2) {
      return invalid_argument(
          "The tensor to initialize must be at least two-dimensional. Received: shape={} of rank {}.", to_string(shape),
          shape.size());
    }
    if (dtype == DType::kFloat16 || dtype == DType::kBfloat16) {
      return invalid_argument("Unsupported dtype {}. Orthogonal factors float32 and float64", to_string(dtype));
    }
    return drawn(of.seed, random::Normal{.stddev = of.gain});
  }
  Status operator()(const StftOptions& of) const {
    SHARDWISE_RETURN_IF_ERROR(random::check(random::Normal{}, shape, dtype));  // float dtypes alone
    return check_stft(of, shape);
  }
  Status operator()(const Initializer::Array& of) const {
    const auto bytes = byte_count(of.shape, of.dtype);
    if (of.shape != shape) {
      return invalid_argument("Expected `shape` to be {} for direct tensor as initializer. Received shape={}",
                              to_string(of.shape), to_string(shape));
    }
    if (bytes.ok() && *bytes == of.bytes->size()) return {};
    return invalid_argument("an array of shape {} and {} does not have {} bytes", to_string(of.shape),
                            to_string(of.dtype), of.bytes->size());
  }
  Status operator()(const Initializer::Whole&) const { return {}; }
  Status operator()(const Initializer::PerBox&) const { return {}; }

 private:
  Status drawn(const Seed& seed, const random::Distribution& distribution) const {
    SHARDWISE_RETURN_IF_ERROR(seed.key().status());
    return random::check(distribution, shape, dtype);
  }
};

}  // namespace

Status check(const Initializer& initializer, const Shape& shape, DType dtype) {
  SHARDWISE_RETURN_IF_ERROR(byte_count(shape, dtype).status());
  if (!is_byte_sized(dtype)) return unimplemented("initial values of {}", to_string(dtype));
  return std::visit(Check{shape, dtype}, initializer.parameters());
}

}  // namespace shardwise
