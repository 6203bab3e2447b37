#include "shardwise/initialize.h"

#include "shardwise/load.h"

namespace shardwise {

Result<ShardedArray> initialize(const Initializer& initializer, const Shape& shape, DType dtype, const Sharding& where,
                                const InitializeOptions& options) {
  constexpr const char* kName = "array";
  const Catalog none{.format = "initializers", .path = initializer.class_name()};
  LayoutMap rules(where.mesh);
  rules.set(kName, where.layout);
  const VariableSpec variable{kName, {}, dtype, std::nullopt, Generated{shape, initializer, options.rounding}};
  SHARDWISE_ASSIGN_OR_RETURN(const LoadPlan plan, make_plan(bind(none, ModelParallel(rules), {.variables = {variable}}),
                                                            {.staging = options.staging}));
  SHARDWISE_ASSIGN_OR_RETURN(Loaded loaded, load(plan, {.threads = options.threads, .fingerprints = false}));
  return std::move(loaded.arrays[0]);
}

namespace random {
namespace {

Result<ShardedArray> draw(const char* name, RandomKey key, const Distribution& distribution, const Shape& shape,
                          DType dtype, const Sharding& where) {
  SHARDWISE_ASSIGN_OR_RETURN(const Generator generator, make_generator(key, distribution, shape, dtype));
  const BoxFunction function = [generator](const Shape&, DType, const Box& box, std::span<std::byte> out) {
    return generator.generate(box, out);
  };
  return initialize(custom_per_box(name, function), shape, dtype, where);
}

}  // namespace

Result<ShardedArray> normal(RandomKey key, const Shape& shape, const NormalArray& of) {
  return draw("random.normal", key, Normal{of.mean, of.stddev}, shape, of.dtype, of.layout);
}
Result<ShardedArray> truncated_normal(RandomKey key, const Shape& shape, const TruncatedNormalArray& of) {
  const TruncatedNormal distribution{of.mean, of.stddev, of.lower, of.upper};
  return draw("random.truncated_normal", key, distribution, shape, of.dtype, of.layout);
}
Result<ShardedArray> uniform(RandomKey key, const Shape& shape, const UniformArray& of) {
  return draw("random.uniform", key, Uniform{of.minval, of.maxval}, shape, of.dtype, of.layout);
}
Result<ShardedArray> bernoulli(RandomKey key, const Shape& shape, const BernoulliArray& of) {
  return draw("random.bernoulli", key, Bernoulli{of.p}, shape, DType::kBool, of.layout);
}
Result<ShardedArray> randint(RandomKey key, const Shape& shape, const RandIntArray& of) {
  return draw("random.randint", key, RandInt{of.minval, of.maxval}, shape, of.dtype, of.layout);
}
Result<ShardedArray> bits(RandomKey key, const Shape& shape, const BitsArray& of) {
  return draw("random.bits", key, Bits{}, shape, of.dtype, of.layout);
}

}  // namespace random
}  // namespace shardwise
