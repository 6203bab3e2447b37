#include "load/block_values.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "shardwise/fingerprint.h"

namespace shardwise {

std::uint64_t block_fingerprint(const Shape& shape, const Box& box, const Shape& block, std::uint64_t first,
                                std::span<const std::byte> decoded, std::uint64_t width) {
  const std::uint64_t last = first + decoded.size() / width;
  FingerprintSum sum;
  for_each_run(shape, box, block, [&](std::uint64_t element, std::uint64_t offset, std::uint64_t count) {
    const std::uint64_t begin = std::max(offset, first);
    const std::uint64_t end = std::min(offset + count, last);
    if (begin >= end) return;
    sum.add(element + (begin - offset), decoded.subspan((begin - first) * width, (end - begin) * width), width);
  });
  return sum.sum();
}

std::uint64_t fill_fingerprint(const Shape& shape, const Box& box, std::span<const std::byte> value) {
  constexpr std::uint64_t kChunk = 8192;  // elements
  std::vector<std::byte> chunk(kChunk * value.size());
  for (std::uint64_t i = 0; i < kChunk; ++i) std::memcpy(chunk.data() + i * value.size(), value.data(), value.size());
  FingerprintSum sum;
  for_each_run(shape, box, box.extent, [&](std::uint64_t first, std::uint64_t, std::uint64_t count) {
    for (std::uint64_t done = 0; done < count; done += kChunk) {
      const std::uint64_t some = std::min(kChunk, count - done);
      sum.add(first + done, {chunk.data(), some * value.size()}, value.size());
    }
  });
  return sum.sum();
}

}  // namespace shardwise
