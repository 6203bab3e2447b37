// Arrays that come to life in their shards: an initializer, or a random op, with a layout.
//
//   const Sharding columns{mesh, {std::nullopt, "model"}};
//   auto kernel = glorot_uniform({.seed = 42})({4096, 4096}, DType::kFloat32, columns);  // Result<ShardedArray>
//   auto noise = random::normal(key, {4096, 4096}, {.stddev = 0.02, .layout = columns});
//
// Each device makes its own shard and nothing else; the bits are those of the unsharded array. Many variables at once,
// with progress and a plan to look at beforehand, go through bind() and load() (plan.h, load.h).
#pragma once

#include <cstdint>

#include "shardwise/initializer.h"
#include "shardwise/layout.h"
#include "shardwise/mesh.h"
#include "shardwise/plan.h"
#include "shardwise/random.h"
#include "shardwise/sharded_array.h"

namespace shardwise {

// Where an array goes: a layout on a mesh with device objects.
struct Sharding {
  DeviceMesh mesh;
  TensorLayout layout = {};  // nothing = whole on every device
};

struct InitializeOptions {
  std::optional<Rounding> rounding = Rounding::kEager;  // nullopt = as Keras chooses on this mesh
  std::uint64_t staging = 64_MiB;  // host memory for initializers that make no shard alone (Orthogonal)
  unsigned threads = 0;            // 0 = one per core
};

// Errors: INVALID_ARGUMENT (initializer, shape, layout); RESOURCE_EXHAUSTED when a device or the staging cannot hold
// it; FAILED_PRECONDITION for a mesh without device objects.
Result<ShardedArray> initialize(const Initializer& initializer, const Shape& shape, DType dtype, const Sharding& where,
                                const InitializeOptions& options = {});

namespace random {

// The random ops, with a layout. Errors: those of the ops and of initialize().
struct NormalArray {
  double mean = 0;
  double stddev = 1;
  DType dtype = DType::kFloat32;
  Sharding layout;
};
struct TruncatedNormalArray {
  double mean = 0;
  double stddev = 1;
  double lower = -2;
  double upper = 2;
  DType dtype = DType::kFloat32;
  Sharding layout;
};
struct UniformArray {
  double minval = 0;
  double maxval = 1;
  DType dtype = DType::kFloat32;
  Sharding layout;
};
struct BernoulliArray {
  double p = 0.5;
  Sharding layout;
};
struct RandIntArray {
  std::int64_t minval = 0;
  std::int64_t maxval = 0;
  DType dtype = DType::kInt32;
  Sharding layout;
};
struct BitsArray {
  DType dtype = DType::kUint32;
  Sharding layout;
};
Result<ShardedArray> normal(RandomKey key, const Shape& shape, const NormalArray& of);
Result<ShardedArray> truncated_normal(RandomKey key, const Shape& shape, const TruncatedNormalArray& of);
Result<ShardedArray> uniform(RandomKey key, const Shape& shape, const UniformArray& of);
Result<ShardedArray> bernoulli(RandomKey key, const Shape& shape, const BernoulliArray& of);
Result<ShardedArray> randint(RandomKey key, const Shape& shape, const RandIntArray& of);
Result<ShardedArray> bits(RandomKey key, const Shape& shape, const BitsArray& of);

}  // namespace random
}  // namespace shardwise
