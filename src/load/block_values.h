// Fingerprints of parts of a tensor that are boxes, not rows of elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shardwise/shape.h"

namespace shardwise {

// Calls take(first_element, offset, count) for every dense run of a box of a tensor: `count` elements that begin at
// row-major index `first_element` of the tensor and at element `offset` of a row-major block of shape `block` whose
// first element is the box's origin.
template <typename Take>
void for_each_run(const Shape& shape, const Box& box, const Shape& block, const Take& take);

// Sum that elements [first, first + decoded.size() / width) of a decoded block add to their tensor's fingerprint.
std::uint64_t block_fingerprint(const Shape& shape, const Box& box, const Shape& block, std::uint64_t first,
                                std::span<const std::byte> decoded, std::uint64_t width);
// The same for a box full of one value.
std::uint64_t fill_fingerprint(const Shape& shape, const Box& box, std::span<const std::byte> value);

// ---- for_each_run ---------------------------------------------------------------------------------------------------

template <typename Take>
void for_each_run(const Shape& shape, const Box& box, const Shape& block, const Take& take) {
  if (box.elements() == 0) return;
  const std::size_t rank = shape.size();
  // Trailing dimensions that are whole in tensor, box and block join the run.
  std::size_t outer = rank;
  std::uint64_t run = 1;
  while (outer > 0) {
    --outer;
    run *= static_cast<std::uint64_t>(box.extent[outer]);
    if (box.extent[outer] != shape[outer] || block[outer] != shape[outer]) break;
  }
  std::vector<std::int64_t> at(outer, 0);
  while (true) {
    std::uint64_t first = 0;
    std::uint64_t offset = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t i = d < outer ? at[d] : 0;
      first = first * static_cast<std::uint64_t>(shape[d]) + static_cast<std::uint64_t>(box.origin[d] + i);
      offset = offset * static_cast<std::uint64_t>(block[d]) + static_cast<std::uint64_t>(i);
    }
    take(first, offset, run);
    std::size_t d = outer;
    while (d > 0 && ++at[d - 1] == box.extent[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace shardwise
