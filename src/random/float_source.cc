// float32 and float64: bits of a block, then what is made of them.
#include <array>
#include <cstring>

#include "random/float_block.h"
#include "random/sources.h"
#include "random/stream_source.h"

namespace shardwise {
namespace {

using arithmetic::Float32;
using arithmetic::Float64;

class Float32Source final : public StreamSource {
 public:
  Float32Source(RandomKey key, const Recipe<Float32>& recipe)
      : StreamSource(sizeof(float)), key_(key), recipe_(recipe) {}

 private:
  void fill_block(const Counters& counters, std::byte* out) const override {
    std::array<std::uint32_t, kRandomBlock> bits;
    make_bits32(key_, counters, bits.data());
    make_float32(recipe_, bits.data(), counters.count, out);
  }

  RandomKey key_;
  Recipe<Float32> recipe_;
};

class Float64Source final : public StreamSource {
 public:
  Float64Source(RandomKey key, const Recipe<Float64>& recipe)
      : StreamSource(sizeof(double)), key_(key), recipe_(recipe) {}

 private:
  void fill_block(const Counters& counters, std::byte* out) const override {
    std::array<std::uint64_t, kRandomBlock> bits;
    make_bits64(key_, counters, bits.data());
    for (std::size_t i = 0; i < counters.count; ++i) {
      const double value = sample<Float64>(recipe_, bits[i] >> (64 - Float64::kFraction));
      std::memcpy(out + i * sizeof(value), &value, sizeof(value));
    }
  }

  RandomKey key_;
  Recipe<Float64> recipe_;
};

}  // namespace

SourcePtr make_float_source(RandomKey key, const Recipe<Float32>& recipe) {
  return std::make_shared<Float32Source>(key, recipe);
}

SourcePtr make_float_source(RandomKey key, const Recipe<Float64>& recipe) {
  return std::make_shared<Float64Source>(key, recipe);
}

}  // namespace shardwise
