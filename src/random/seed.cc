#include "shardwise/seed.h"

#include "base/format.h"
#include "random/threefry.h"

namespace shardwise {

std::string to_string(RandomKey key) { return format("[{}, {}]", key.a, key.b); }

namespace random {

Result<Stream> parse_stream(std::string_view name) {
  if (name == "threefry2x32" || name == "threefry_partitionable") return Stream::kThreefryPartitionable;
  if (name == "threefry_original") {
    return unimplemented(
        "random stream 'threefry_original' (jax_threefry_partitionable=False): an element depends on the size of its "
        "tensor, so shards cannot be made alone; use 'threefry_partitionable', JAX's default since 0.5");
  }
  if (name == "rbg" || name == "unsafe_rbg") {
    return unimplemented("random stream '{}' differs from device to device; use 'threefry_partitionable'", name);
  }
  return invalid_argument("no random stream is called '{}'; there is 'threefry_partitionable'", printable(name));
}

RandomKey split_child(RandomKey key, std::uint64_t index) {
  const ThreefryBlock block = threefry(key, index);
  return {block.a, block.b};
}

std::vector<RandomKey> split(RandomKey key, std::size_t count) {
  std::vector<RandomKey> children;
  children.reserve(count);
  for (std::size_t i = 0; i < count; ++i) children.push_back(split_child(key, i));
  return children;
}

RandomKey fold_in(RandomKey key, std::uint32_t data) { return split_child(key, data); }

}  // namespace random

RandomKey SeedGenerator::next() {
  const RandomKey drawn = state_;
  ++state_.b;
  return drawn;
}

RandomKey SeedGenerator::next_unordered() {
  const auto scramble = [](std::uint32_t x) { return (x + 1) * 5387u % 933199u; };
  const RandomKey drawn = state_;
  state_ = {scramble(state_.a), scramble(state_.b)};
  return drawn;
}

}  // namespace shardwise
