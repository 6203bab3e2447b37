// Keys of random streams, and where Keras takes them from.
//
// The one stream that shardwise draws from is JAX's threefry2x32 in partitionable mode, the default since JAX 0.5:
// element i of a tensor depends on the key and on i, its row-major index in the whole tensor, and on nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shardwise/status.h"

namespace shardwise {

// The two words that a stream is made from.
struct RandomKey {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  friend bool operator==(RandomKey, RandomKey) = default;
};

// "[42, 0]".
std::string to_string(RandomKey key);

// The key of a Keras initializer or random op with an integer seed.
constexpr RandomKey keras_key(std::uint32_t seed) { return {seed, 0}; }
// The key of jax.random.key(seed) without 64-bit mode.
constexpr RandomKey jax_key(std::uint32_t seed) { return {0, seed}; }

namespace random {

// How keys and indices become bits.
enum class Stream : std::uint8_t { kThreefryPartitionable };

// "threefry2x32", "threefry_partitionable". Errors: UNIMPLEMENTED for the streams that JAX has besides,
// "threefry_original" (jax_threefry_partitionable=False, in which an element depends on the size of the tensor), "rbg"
// and "unsafe_rbg"; INVALID_ARGUMENT for any other name.
Result<Stream> parse_stream(std::string_view name);

// Child `index` of jax.random.split(key, n), which is the same for every n > index.
RandomKey split_child(RandomKey key, std::uint64_t index);
std::vector<RandomKey> split(RandomKey key, std::size_t count);
RandomKey fold_in(RandomKey key, std::uint32_t data);

}  // namespace random

// keras.random.SeedGenerator: a key that changes with every draw. Thread-compatible. The state is the whole of it: who
// saves the state and makes a generator from it again goes on with the same keys.
class SeedGenerator {
 public:
  explicit SeedGenerator(std::uint32_t seed) : state_{seed, 0} {}
  explicit SeedGenerator(RandomKey state) : state_(state) {}

  RandomKey state() const { return state_; }
  // The state; then adds [0, 1] to it. What seeded ops and layers draw.
  RandomKey next();
  // The state; then scrambles it. What Keras's global generator gives to ops without a seed.
  RandomKey next_unordered();

 private:
  RandomKey state_;
};

// Python's `random` module as far as Keras draws seeds from it: MT19937, seeded by an integer. Thread-compatible.
class PythonRandom {
 public:
  // As random.seed(seed), which keras.utils.set_random_seed(seed) calls.
  explicit PythonRandom(std::uint64_t seed);

  // random.randint(low, high), both ends included. Precondition: low <= high, high - low < 2^32 - 1.
  std::uint32_t randint(std::uint32_t low, std::uint32_t high);
  // The seed that Keras gives the next initializer, layer or SeedGenerator that is made without one.
  std::uint32_t default_seed() { return randint(1, 1'000'000'000); }

 private:
  std::uint32_t word();
  void twist();

  std::array<std::uint32_t, 624> state_{};
  std::size_t used_ = 624;
};

}  // namespace shardwise
