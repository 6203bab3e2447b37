#include "plan/pieces.h"

#include <algorithm>

#include "base/checked.h"

namespace shardwise {

std::uint64_t piece_elements(const Shape& extent, std::uint64_t first, std::uint64_t most) {
  // The outermost dimension of which one step is not too long.
  std::uint64_t step = 1;
  std::size_t d = extent.size();
  while (d > 1 && step * static_cast<std::uint64_t>(extent[d - 1]) <= most) {
    step *= static_cast<std::uint64_t>(extent[d - 1]);
    --d;
  }
  if (d == 0) return 1;
  const auto steps = static_cast<std::uint64_t>(extent[d - 1]);
  const std::uint64_t pieces = ceil_div(steps, std::max<std::uint64_t>(most / step, 1));
  const std::uint64_t done = first / step % steps;
  return std::min(ceil_div(steps, pieces), steps - done) * step;
}

Box piece_box(const Box& box, std::uint64_t first, std::uint64_t count) {
  Box piece = box;
  for (std::size_t d = box.rank(); d-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(box.extent[d]);
    const std::uint64_t taken = std::min(count, extent);
    piece.origin[d] += static_cast<std::int64_t>(first % extent);
    piece.extent[d] = static_cast<std::int64_t>(taken);
    first /= extent;
    count /= taken;
  }
  return piece;
}

}  // namespace shardwise
