// float16 and bfloat16: a value depends on 10 or 7 random bits, so all values are computed once.
#include <array>
#include <cstring>

#include "random/sources.h"
#include "random/stream_source.h"

namespace shardwise {
namespace {

// JAX draws 16 bits for float16 and 8 for bfloat16, and takes the upper ones.
template <typename A>
inline constexpr int kDrawn = A::kFraction < 8 ? 8 : 16;

template <typename A>
class TableSource final : public StreamSource {
 public:
  static constexpr std::uint32_t kValues = 1u << A::kFraction;

  TableSource(RandomKey key, const Recipe<A>& recipe) : StreamSource(sizeof(std::uint16_t)), key_(key) {
    for (std::uint32_t i = 0; i < kValues; ++i) {
      values_[i] = A::bits(sample<A>(recipe, static_cast<typename A::Bits>(i)));
    }
  }

  std::uint64_t held_bytes() const override { return sizeof(*this); }

 private:
  void fill_block(const Counters& counters, std::byte* out) const override {
    std::array<std::uint32_t, kRandomBlock> bits;
    std::array<std::uint16_t, kRandomBlock> values;
    make_bits32(key_, counters, bits.data());
    for (std::size_t i = 0; i < counters.count; ++i) {
      values[i] = values_[(bits[i] >> (kDrawn<A> - A::kFraction)) % kValues];
    }
    std::memcpy(out, values.data(), counters.count * sizeof(std::uint16_t));
  }

  RandomKey key_;
  std::array<std::uint16_t, kValues> values_;
};

}  // namespace

SourcePtr make_float_source(RandomKey key, const Recipe<arithmetic::Float16>& recipe) {
  return std::make_shared<TableSource<arithmetic::Float16>>(key, recipe);
}

SourcePtr make_float_source(RandomKey key, const Recipe<arithmetic::Bfloat16>& recipe) {
  return std::make_shared<TableSource<arithmetic::Bfloat16>>(key, recipe);
}

}  // namespace shardwise
