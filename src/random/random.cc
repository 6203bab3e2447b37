#include "shardwise/random.h"

#include <cmath>

#include "base/format.h"
#include "random/sources.h"

namespace shardwise::random {
namespace {

bool is_wide_float(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBfloat16 || dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

bool is_integer(DType dtype) {
  return (kind(dtype) == DTypeKind::kSigned || kind(dtype) == DTypeKind::kUnsigned) && is_byte_sized(dtype);
}

Status check_float(std::string_view name, DType dtype, std::initializer_list<double> parameters) {
  if (!is_wide_float(dtype)) {
    return invalid_argument("{} only accepts floating point dtypes (float16, bfloat16, float32, float64), not {}", name,
                            to_string(dtype));
  }
  for (const double parameter : parameters) {
    if (!std::isfinite(parameter)) return invalid_argument("{} has the parameter {}", name, parameter);
  }
  return {};
}

struct Check {
  DType dtype;

  Status operator()(const Bits&) const {
    if (is_integer(dtype) && kind(dtype) == DTypeKind::kUnsigned) return {};
    return invalid_argument("bits come as uint8, uint16, uint32 or uint64, not as {}", to_string(dtype));
  }
  Status operator()(const Uniform& of) const { return check_float("uniform", dtype, {of.minval, of.maxval}); }
  Status operator()(const Normal& of) const { return check_float("normal", dtype, {of.mean, of.stddev}); }
  Status operator()(const TruncatedNormal& of) const {
    SHARDWISE_RETURN_IF_ERROR(check_float("truncated_normal", dtype, {of.mean, of.stddev, of.lower, of.upper}));
    if (of.lower < of.upper) return {};
    return invalid_argument("truncated_normal between {} and {}: nothing lies between", of.lower, of.upper);
  }
  Status operator()(const Bernoulli& of) const {
    if (dtype != DType::kBool) return invalid_argument("bernoulli gives bool, not {}", to_string(dtype));
    if (std::isnan(of.p)) return invalid_argument("bernoulli has the parameter {}", of.p);
    return {};
  }
  Status operator()(const RandInt&) const {
    if (is_integer(dtype)) return {};
    return invalid_argument("randint only accepts integer dtypes, not {}", to_string(dtype));
  }
};

template <typename Of>
SourcePtr float_source(RandomKey key, const Of& of, DType dtype, Rounding rounding) {
  switch (dtype) {
    case DType::kFloat16:
      return make_float_source(key, make_recipe<arithmetic::Float16>(of, rounding));
    case DType::kBfloat16:
      return make_float_source(key, make_recipe<arithmetic::Bfloat16>(of, rounding));
    case DType::kFloat32:
      return make_float_source(key, make_recipe<arithmetic::Float32>(of, rounding));
    default:
      return make_float_source(key, make_recipe<arithmetic::Float64>(of, rounding));
  }
}

struct MakeSource {
  RandomKey key;
  DType dtype;
  Rounding rounding;

  SourcePtr operator()(const Bits&) const { return make_bits_source(key, dtype); }
  SourcePtr operator()(const Bernoulli& of) const { return make_bernoulli_source(key, static_cast<float>(of.p)); }
  SourcePtr operator()(const RandInt& of) const { return make_randint_source(key, of, dtype); }
  template <typename Of>
  SourcePtr operator()(const Of& of) const {
    return float_source(key, of, dtype, rounding);
  }
};

Status one_box(RandomKey key, const Distribution& of, const Shape& shape, DType dtype, const Box& box,
               std::span<std::byte> out) {
  SHARDWISE_ASSIGN_OR_RETURN(const Generator generator, make_generator(key, of, shape, dtype));
  return generator.generate(box, out);
}

}  // namespace

Status check(const Distribution& distribution, const Shape& shape, DType dtype) {
  SHARDWISE_ASSIGN_OR_RETURN([[maybe_unused]] const std::uint64_t elements, element_count(shape));
  return std::visit(Check{dtype}, distribution);
}

Result<Generator> make_generator(RandomKey key, const Distribution& distribution, const Shape& shape, DType dtype,
                                 Rounding rounding) {
  SHARDWISE_RETURN_IF_ERROR(check(distribution, shape, dtype));
  return Generator(shape, dtype, std::visit(MakeSource{key, dtype, rounding}, distribution));
}

Status bits(RandomKey key, const Shape& shape, DType dtype, const Box& box, std::span<std::byte> out) {
  return one_box(key, Bits{}, shape, dtype, box, out);
}
Status uniform(RandomKey key, const Shape& shape, DType dtype, const Uniform& of, const Box& box,
               std::span<std::byte> out) {
  return one_box(key, of, shape, dtype, box, out);
}
Status normal(RandomKey key, const Shape& shape, DType dtype, const Normal& of, const Box& box,
              std::span<std::byte> out) {
  return one_box(key, of, shape, dtype, box, out);
}
Status truncated_normal(RandomKey key, const Shape& shape, DType dtype, const TruncatedNormal& of, const Box& box,
                        std::span<std::byte> out) {
  return one_box(key, of, shape, dtype, box, out);
}
Status bernoulli(RandomKey key, const Shape& shape, const Bernoulli& of, const Box& box, std::span<std::byte> out) {
  return one_box(key, of, shape, DType::kBool, box, out);
}
Status randint(RandomKey key, const Shape& shape, DType dtype, const RandInt& of, const Box& box,
               std::span<std::byte> out) {
  return one_box(key, of, shape, dtype, box, out);
}

}  // namespace shardwise::random
