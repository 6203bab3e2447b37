#include "codec/shuffle.h"

#include <cstring>

namespace shardwise {

void unshuffle(std::span<const std::byte> shuffled, std::uint64_t element_size, std::span<std::byte> target) {
  if (shuffled.empty()) return;
  const std::size_t count = element_size <= 1 ? 0 : shuffled.size() / element_size;
  for (std::size_t plane = 0; plane < element_size && count != 0; ++plane) {
    for (std::size_t i = 0; i < count; ++i) target[i * element_size + plane] = shuffled[plane * count + i];
  }
  const std::size_t whole = count * element_size;
  if (whole != shuffled.size()) std::memcpy(target.data() + whole, shuffled.data() + whole, shuffled.size() - whole);
}

}  // namespace shardwise
