#include "codec/copy_shape.h"

#include <algorithm>

#include "codec/copy_loops.h"

namespace shardwise {
namespace {

// Walks a dimension from its other end, so that its target step becomes positive.
void make_ascending(ByteDim& dim, CopyShape& shape) {
  if (dim.target >= 0) return;
  const auto steps = static_cast<std::int64_t>(dim.extent - 1);
  shape.source_start += steps * dim.source;
  shape.target_start += steps * dim.target;
  dim.source = -dim.source;
  dim.target = -dim.target;
}

bool merges(const ByteDim& outer, const ByteDim& inner) {
  const auto extent = static_cast<std::int64_t>(inner.extent);
  return outer.source == extent * inner.source && outer.target == extent * inner.target;
}

}  // namespace

ByteDim CopyShape::take(std::size_t index) {
  const ByteDim taken = dims[index];
  std::copy(dims.begin() + static_cast<std::ptrdiff_t>(index) + 1, dims.begin() + static_cast<std::ptrdiff_t>(rank),
            dims.begin() + static_cast<std::ptrdiff_t>(index));
  --rank;
  return taken;
}

std::size_t find_transposed(const CopyShape& shape, std::uint64_t source_width, std::uint64_t target_width) {
  if (shape.rank < 2 || shape.inner().target != static_cast<std::int64_t>(target_width)) return shape.rank;
  for (std::size_t d = 0; d + 1 < shape.rank; ++d) {
    if (shape.dims[d].source == static_cast<std::int64_t>(source_width)) return d;
  }
  return shape.rank;
}

std::optional<CopyShape> simplify(std::span<const CopyDim> dims, std::uint64_t source_width,
                                  std::uint64_t target_width) {
  std::optional<CopyShape> result(std::in_place);
  CopyShape& shape = *result;
  for (const CopyDim& dim : dims) shape.empty |= dim.extent == 0;
  if (shape.empty) return result;
  for (const CopyDim& dim : dims) {
    if (dim.extent == 1) continue;
    if (shape.rank == shape.dims.size()) return std::nullopt;
    ByteDim& added = shape.dims[shape.rank++];
    added = {dim.extent, dim.source_stride * static_cast<std::int64_t>(source_width),
             dim.target_stride * static_cast<std::int64_t>(target_width)};
    make_ascending(added, shape);
  }
  const std::span<ByteDim> all = shape.all();
  std::stable_sort(all.begin(), all.end(), [](const ByteDim& a, const ByteDim& b) { return a.target > b.target; });
  std::size_t kept = 0;
  for (std::size_t d = 1; d < all.size(); ++d) {
    if (merges(all[kept], all[d])) {
      all[kept] = {all[kept].extent * all[d].extent, all[d].source, all[d].target};
    } else {
      all[++kept] = all[d];
    }
  }
  if (!all.empty()) shape.rank = kept + 1;
  return result;
}

}  // namespace shardwise
