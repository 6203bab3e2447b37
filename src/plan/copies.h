// Strided copies of a plan: made of pieces, cut to blocks and to windows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plan/index_map.h"
#include "shardwise/shape.h"

namespace shardwise {

// A strided copy on its own: what Copy and LoadPlan::copy_dims say together.
struct CopyLoops {
  std::uint64_t source_offset = 0;
  std::uint64_t target_offset = 0;
  std::vector<CopyDim> dims;  // largest source stride first, adjacent dimensions that nest on both sides merged
};

// Sorts and merges `dims`; drops those of extent 1.
void normalise(std::vector<CopyDim>& dims);

// The copy of a whole piece out of a row-major array with these strides per base dimension.
CopyLoops whole_piece(const Piece& piece, std::span<const std::int64_t> base_strides);

// The copies of the part of a piece that lies in `box` of the base, out of a row-major block of shape `block` whose
// first element is box.origin. Appends to `out`.
void piece_in_box(const Piece& piece, const Box& box, const Shape& block, std::vector<CopyLoops>& out);

// Calls take(source_offset, target_offset, dims) for copies that together are the elements of the given copy whose
// source lies in [first, last). `dims` sorted by falling source stride, nested: what the inner dimensions span is less
// than one step of the outer (true of all copies of a plan). `scratch` is reused between calls.
template <typename Take>
void clip_copy(std::uint64_t source_offset, std::uint64_t target_offset, std::span<const CopyDim> dims,
               std::uint64_t first, std::uint64_t last, std::vector<CopyDim>& scratch, const Take& take);

// Elements from the first to one past the last source element of a copy.
inline std::uint64_t source_span(std::span<const CopyDim> dims) {
  std::uint64_t span = 1;
  for (const CopyDim& dim : dims) span += (dim.extent - 1) * static_cast<std::uint64_t>(dim.source_stride);
  return span;
}
inline std::uint64_t elements(std::span<const CopyDim> dims) {
  std::uint64_t count = 1;
  for (const CopyDim& dim : dims) count *= dim.extent;
  return count;
}
// True when source and target are both one dense run.
inline bool is_contiguous(std::span<const CopyDim> dims) {
  return dims.empty() || (dims.size() == 1 && dims[0].source_stride == 1 && dims[0].target_stride == 1);
}

// ---- clip_copy ------------------------------------------------------------------------------------------------------

template <typename Take>
void clip_copy(std::uint64_t source_offset, std::uint64_t target_offset, std::span<const CopyDim> dims,
               std::uint64_t first, std::uint64_t last, std::vector<CopyDim>& scratch, const Take& take) {
  const std::uint64_t end = source_offset + source_span(dims);
  if (end <= first || source_offset >= last) return;
  if (first <= source_offset && end <= last) {
    take(source_offset, target_offset, dims);
    return;
  }
  const CopyDim& outer = dims.front();  // not empty: one element is inside or outside
  const auto inner = dims.subspan(1);
  const std::uint64_t inner_span = source_span(inner);
  const auto stride = static_cast<std::uint64_t>(outer.source_stride);
  const auto at = [&](std::uint64_t i) {
    return std::pair(source_offset + i * stride, target_offset + i * static_cast<std::uint64_t>(outer.target_stride));
  };
  // Steps [begin, stop) lie whole inside; the ones next to them may be cut.
  const std::uint64_t begin =
      first <= source_offset ? 0 : std::min(outer.extent, (first - source_offset + stride - 1) / stride);
  std::uint64_t stop = 0;
  if (last >= source_offset + inner_span)
    stop = std::min(outer.extent, (last - source_offset - inner_span) / stride + 1);
  if (begin > 0) {
    const auto [s, t] = at(begin - 1);
    clip_copy(s, t, inner, first, last, scratch, take);
  }
  if (stop > begin) {
    scratch.assign(dims.begin(), dims.end());
    scratch.front().extent = stop - begin;
    const auto [s, t] = at(begin);
    take(s, t,
         std::span<const CopyDim>(scratch.data() + (stop - begin == 1 ? 1 : 0),
                                  scratch.size() - (stop - begin == 1 ? 1 : 0)));
  }
  const std::uint64_t next = std::max(begin, stop);
  if (next < outer.extent) {
    const auto [s, t] = at(next);
    if (s < last) clip_copy(s, t, inner, first, last, scratch, take);
  }
}

}  // namespace shardwise
