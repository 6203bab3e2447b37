// For tests: applies HDF5's filters, written apart from the code that undoes them.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <random>
#include <vector>

#include "codec/filters.h"

namespace shardwise::filter_testing {

using Bytes = std::vector<std::byte>;

inline Bytes compressible_bytes(std::size_t size, std::mt19937_64& random) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 4 == 0 ? random() : random() % 3);
  return bytes;
}

inline Bytes deflate(const Bytes& plain) {
  uLongf size = compressBound(static_cast<uLong>(plain.size()));
  Bytes out(size);
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
            static_cast<uLong>(plain.size()), 4);
  out.resize(size);
  return out;
}

inline Bytes shuffle(const Bytes& plain, std::size_t width) {
  Bytes out;
  const std::size_t count = plain.size() / width;
  for (std::size_t b = 0; b < width && count != 0; ++b) {
    for (std::size_t i = 0; i < count; ++i) out.push_back(plain[i * width + b]);
  }
  out.insert(out.end(), plain.begin() + static_cast<std::ptrdiff_t>(count * width), plain.end());
  return out;
}

// One's-complement sums with a carry folded in after every step.
inline Bytes append_fletcher32(Bytes plain) {
  std::uint32_t sum1 = 0;
  std::uint32_t sum2 = 0;
  const auto add = [](std::uint32_t a, std::uint32_t b) { return ((a + b) & 0xffff) + ((a + b) >> 16); };
  for (std::size_t i = 0; i < plain.size(); i += 2) {
    const auto high = std::to_integer<std::uint32_t>(plain[i]);
    const auto low = i + 1 < plain.size() ? std::to_integer<std::uint32_t>(plain[i + 1]) : 0;
    sum1 = add(sum1, high << 8 | low);
    sum2 = add(sum2, sum1);
  }
  for (const std::uint32_t part : {sum1, sum1 >> 8, sum2, sum2 >> 8}) plain.push_back(static_cast<std::byte>(part));
  return plain;
}

inline Bytes encode(const std::vector<FilterStep>& steps, std::uint32_t skipped, Bytes bytes) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if ((skipped >> i & 1) != 0) continue;
    switch (steps[i].kind) {
      case FilterStep::Kind::kDeflate:
        bytes = deflate(bytes);
        break;
      case FilterStep::Kind::kShuffle:
        bytes = shuffle(bytes, steps[i].element_size);
        break;
      case FilterStep::Kind::kFletcher32:
        bytes = append_fletcher32(std::move(bytes));
        break;
    }
  }
  return bytes;
}

}  // namespace shardwise::filter_testing
