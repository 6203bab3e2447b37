// Bits as they are, and integers and booleans made of them.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "random/sources.h"
#include "random/stream_source.h"

namespace shardwise {
namespace {

// Bits of the width of T.
template <typename T>
void make_bits(RandomKey key, const Counters& counters, T* out) {
  if constexpr (sizeof(T) == 8) {
    make_bits64(key, counters, out);
  } else if constexpr (sizeof(T) == 4) {
    make_bits32(key, counters, out);
  } else {
    std::array<std::uint32_t, kRandomBlock> words;
    make_bits32(key, counters, words.data());
    for (std::size_t i = 0; i < counters.count; ++i) out[i] = static_cast<T>(words[i]);
  }
}

template <typename T>
class BitsSource final : public StreamSource {
 public:
  explicit BitsSource(RandomKey key) : StreamSource(sizeof(T)), key_(key) {}

 private:
  void fill_block(const Counters& counters, std::byte* out) const override {
    std::array<T, kRandomBlock> bits;
    make_bits(key_, counters, bits.data());
    std::memcpy(out, bits.data(), counters.count * sizeof(T));
  }

  RandomKey key_;
};

// uniform < p, where uniform is a multiple of 2^-23 below 1.
class BernoulliSource final : public StreamSource {
 public:
  BernoulliSource(RandomKey key, float p)
      : StreamSource(1),
        key_(key),
        below_(p > 0 ? static_cast<std::uint32_t>(std::ceil(std::fmin(p, 1) * 0x1p23)) : 0) {}

 private:
  void fill_block(const Counters& counters, std::byte* out) const override {
    std::array<std::uint32_t, kRandomBlock> bits;
    make_bits32(key_, counters, bits.data());
    for (std::size_t i = 0; i < counters.count; ++i) out[i] = std::byte{bits[i] >> 9 < below_};
  }

  RandomKey key_;
  std::uint32_t below_;
};

// U is the unsigned type of the dtype. A span of 0 stands for 2^width: then nothing is reduced.
template <typename U>
class RandIntSource final : public StreamSource {
 public:
  RandIntSource(RandomKey key, U minval, U span)
      : StreamSource(sizeof(U)),
        high_(random::split_child(key, 0)),
        low_(random::split_child(key, 1)),
        minval_(minval),
        span_(span) {
    const U half = static_cast<U>(reduce(static_cast<U>(U{1} << (std::numeric_limits<U>::digits / 2))));
    multiplier_ = reduce(static_cast<U>(half * half));
  }

 private:
  U reduce(U x) const { return span_ == 0 ? x : static_cast<U>(x % span_); }

  void fill_block(const Counters& counters, std::byte* out) const override {
    std::array<U, kRandomBlock> high;
    std::array<U, kRandomBlock> low;
    make_bits(high_, counters, high.data());
    make_bits(low_, counters, low.data());
    for (std::size_t i = 0; i < counters.count; ++i) {
      const U offset = reduce(static_cast<U>(static_cast<U>(reduce(high[i]) * multiplier_) + reduce(low[i])));
      low[i] = static_cast<U>(minval_ + offset);
    }
    std::memcpy(out, low.data(), counters.count * sizeof(U));
  }

  RandomKey high_;
  RandomKey low_;
  U minval_;
  U span_;
  U multiplier_ = 0;
};

// As JAX: both limits are cut to the dtype, a maxval above it stands for one past its greatest value, and an empty
// range gives minval.
template <typename T>
SourcePtr randint_source(RandomKey key, const random::RandInt& of) {
  using U = std::make_unsigned_t<T>;
  const auto clip = [](std::int64_t x) {
    if (std::cmp_less(x, std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (std::cmp_greater(x, std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(x);
  };
  const T minval = clip(of.minval);
  const T maxval = clip(of.maxval);
  U span = 1;
  if (maxval > minval) {
    span = static_cast<U>(static_cast<U>(maxval) - static_cast<U>(minval));
    if (std::cmp_greater(of.maxval, std::numeric_limits<T>::max())) ++span;
  }
  return std::make_shared<RandIntSource<U>>(key, static_cast<U>(minval), span);
}

}  // namespace

SourcePtr make_bits_source(RandomKey key, DType dtype) {
  switch (bit_width(dtype)) {
    case 8:
      return std::make_shared<BitsSource<std::uint8_t>>(key);
    case 16:
      return std::make_shared<BitsSource<std::uint16_t>>(key);
    case 32:
      return std::make_shared<BitsSource<std::uint32_t>>(key);
    default:
      return std::make_shared<BitsSource<std::uint64_t>>(key);
  }
}

SourcePtr make_bernoulli_source(RandomKey key, float p) { return std::make_shared<BernoulliSource>(key, p); }

SourcePtr make_randint_source(RandomKey key, const random::RandInt& of, DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return randint_source<std::int8_t>(key, of);
    case DType::kInt16:
      return randint_source<std::int16_t>(key, of);
    case DType::kInt32:
      return randint_source<std::int32_t>(key, of);
    case DType::kInt64:
      return randint_source<std::int64_t>(key, of);
    case DType::kUint8:
      return randint_source<std::uint8_t>(key, of);
    case DType::kUint16:
      return randint_source<std::uint16_t>(key, of);
    case DType::kUint32:
      return randint_source<std::uint32_t>(key, of);
    default:
      return randint_source<std::uint64_t>(key, of);
  }
}

}  // namespace shardwise
