// Random tensors, with the bits that jax.random and keras.random give: any part of a tensor, alone.
//
//   const RandomKey key = jax_key(7);
//   std::vector<std::byte> shard(...);
//   Status s = random::normal(key, {4096, 4096}, DType::kFloat32, {}, Box{{0, 2048}, {4096, 1024}}, shard);
//
// docs/random.md says which values are exact where. Float dtypes are float16, bfloat16, float32 and float64.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "shardwise/generator.h"
#include "shardwise/seed.h"

namespace shardwise::random {

// jax.random.bits: uint8, uint16, uint32, uint64.
struct Bits {
  friend bool operator==(const Bits&, const Bits&) = default;
};
// uniform in [minval, maxval); float dtypes.
struct Uniform {
  double minval = 0;
  double maxval = 1;
  friend bool operator==(const Uniform&, const Uniform&) = default;
};
// jax.random.normal(...) * stddev + mean, as keras.random.normal; float dtypes.
struct Normal {
  double mean = 0;
  double stddev = 1;
  friend bool operator==(const Normal&, const Normal&) = default;
};
// jax.random.truncated_normal(lower, upper) * stddev + mean, as keras.random.truncated_normal; float dtypes.
struct TruncatedNormal {
  double mean = 0;
  double stddev = 1;
  double lower = -2;
  double upper = 2;
  friend bool operator==(const TruncatedNormal&, const TruncatedNormal&) = default;
};
// True with probability p, drawn in float32; dtype bool.
struct Bernoulli {
  double p = 0.5;
  friend bool operator==(const Bernoulli&, const Bernoulli&) = default;
};
// Integers in [minval, maxval), minval where that is empty; every integer dtype of 8 to 64 bits.
struct RandInt {
  std::int64_t minval = 0;
  std::int64_t maxval = 0;
  friend bool operator==(const RandInt&, const RandInt&) = default;
};
using Distribution = std::variant<Bits, Uniform, Normal, TruncatedNormal, Bernoulli, RandInt>;

// Errors: INVALID_ARGUMENT for a shape that is none, a dtype that the distribution does not have, or parameters that
// are not finite.
Status check(const Distribution& distribution, const Shape& shape, DType dtype);

// The tensor that `key` gives. Errors: as check().
Result<Generator> make_generator(RandomKey key, const Distribution& distribution, const Shape& shape, DType dtype,
                                 Rounding rounding = Rounding::kEager);

// One box of a tensor of shape `shape`, written densely. Errors: as check() and Generator::generate(). Who asks for
// many boxes of a tensor makes a Generator once.
Status bits(RandomKey key, const Shape& shape, DType dtype, const Box& box, std::span<std::byte> out);
Status uniform(RandomKey key, const Shape& shape, DType dtype, const Uniform& of, const Box& box,
               std::span<std::byte> out);
Status normal(RandomKey key, const Shape& shape, DType dtype, const Normal& of, const Box& box,
              std::span<std::byte> out);
Status truncated_normal(RandomKey key, const Shape& shape, DType dtype, const TruncatedNormal& of, const Box& box,
                        std::span<std::byte> out);
Status bernoulli(RandomKey key, const Shape& shape, const Bernoulli& of, const Box& box, std::span<std::byte> out);
Status randint(RandomKey key, const Shape& shape, DType dtype, const RandInt& of, const Box& box,
               std::span<std::byte> out);

// jax.random.permutation(key, n): a shuffled 0, 1, ... n - 1. Errors: INVALID_ARGUMENT for n above 2^32 - 1.
// Takes 16 n bytes besides the result.
Result<std::vector<std::uint32_t>> permutation(RandomKey key, std::uint64_t n);
// jax.random.permutation(key, x) of an x with rows of `row_bytes` bytes, in place: rows change places.
// Errors: INVALID_ARGUMENT when the rows do not fill `data`. Takes another `data.size()` bytes.
Status shuffle(RandomKey key, std::span<std::byte> data, std::uint64_t row_bytes);

}  // namespace shardwise::random
