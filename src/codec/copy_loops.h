// Loops over the outer dimensions of a copy, shared by moves and conversions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/copy_shape.h"
#include "shardwise/status.h"

namespace shardwise {

// Calls f(source, target), which returns a Status, for every index of `dims`, the last dimension fastest; stops at the
// first error.
template <typename F>
Status for_each_index(std::span<const ByteDim> dims, const std::byte* source, std::byte* target, F&& f) {
  std::array<std::uint64_t, 64> index{};
  while (true) {
    SHARDWISE_RETURN_IF_ERROR(f(source, target));
    std::size_t d = dims.size();
    while (true) {
      if (d == 0) return {};
      --d;
      if (++index[d] < dims[d].extent) break;
      const auto back = static_cast<std::int64_t>(dims[d].extent - 1);
      source -= back * dims[d].source;
      target -= back * dims[d].target;
      index[d] = 0;
    }
    source += dims[d].source;
    target += dims[d].target;
  }
}

// True when the elements of the dimension lie side by side on both sides.
inline bool is_contiguous(const ByteDim& dim, std::uint64_t source_width, std::uint64_t target_width) {
  return dim.source == static_cast<std::int64_t>(source_width) && dim.target == static_cast<std::int64_t>(target_width);
}

// A dimension other than the innermost whose neighbours lie side by side in the source, while the innermost's do so in
// the target: together they are a matrix to transpose. The rank when there is none.
std::size_t find_transposed(const CopyShape& shape, std::uint64_t source_width, std::uint64_t target_width);

}  // namespace shardwise
