#include "plan/copies.h"

#include <algorithm>

#include "plan/strides.h"

namespace shardwise {

void normalise(std::vector<CopyDim>& dims) {
  std::erase_if(dims, [](const CopyDim& dim) { return dim.extent == 1; });
  std::sort(dims.begin(), dims.end(),
            [](const CopyDim& a, const CopyDim& b) { return a.source_stride > b.source_stride; });
  std::size_t kept = 0;
  for (const CopyDim& dim : dims) {
    if (kept > 0) {
      CopyDim& outer = dims[kept - 1];
      const auto extent = static_cast<std::int64_t>(dim.extent);
      if (outer.source_stride == dim.source_stride * extent && outer.target_stride == dim.target_stride * extent) {
        outer = {outer.extent * dim.extent, dim.source_stride, dim.target_stride};
        continue;
      }
    }
    dims[kept++] = dim;
  }
  dims.resize(kept);
}

CopyLoops whole_piece(const Piece& piece, std::span<const std::int64_t> base_strides) {
  CopyLoops copy;
  copy.target_offset = static_cast<std::uint64_t>(piece.target_offset);
  for (std::size_t d = 0; d < base_strides.size(); ++d) {
    copy.source_offset += static_cast<std::uint64_t>(piece.origin[d] * base_strides[d]);
  }
  for (const PieceLoop& loop : piece.loops) {
    copy.dims.push_back(
        {static_cast<std::uint64_t>(loop.extent), loop.step * base_strides[loop.dim], loop.target_stride});
  }
  normalise(copy.dims);
  return copy;
}

namespace {

// Cuts a piece to a box, one base dimension after the other.
class BoxCutter {
 public:
  BoxCutter(const Piece& piece, const Box& box, const Shape& block, std::vector<CopyLoops>& out)
      : piece_(piece), box_(box), strides_(row_major_strides(block)), out_(out), by_dim_(box.rank()) {
    for (const PieceLoop& loop : piece.loops) by_dim_[loop.dim].push_back(loop);
    for (auto& loops : by_dim_) {
      std::sort(loops.begin(), loops.end(), [](const PieceLoop& a, const PieceLoop& b) { return a.step > b.step; });
    }
  }

  void run() { dimension(0, 0, static_cast<std::uint64_t>(piece_.target_offset)); }

 private:
  // Chooses what lies inside the box along dimension `d`, for what was chosen along those before.
  void dimension(std::size_t d, std::uint64_t source, std::uint64_t target) {
    if (d == by_dim_.size()) {
      CopyLoops copy{source, target, chosen_};
      normalise(copy.dims);
      out_.push_back(std::move(copy));
      return;
    }
    loop(d, 0, piece_.origin[d], source, target);
  }

  // Loop number `i` of dimension `d`; `at` is the coordinate of its first element.
  void loop(std::size_t d, std::size_t i, std::int64_t at, std::uint64_t source, std::uint64_t target) {
    const std::int64_t begin = box_.origin[d];
    const std::int64_t end = begin + box_.extent[d];
    std::int64_t span = 1;
    for (std::size_t j = i; j < by_dim_[d].size(); ++j) span += (by_dim_[d][j].extent - 1) * by_dim_[d][j].step;
    if (at + span <= begin || at >= end) return;
    if (begin <= at && at + span <= end) {
      take_whole(d, i, at, source, target);
      return;
    }
    const PieceLoop& outer = by_dim_[d][i];
    const std::int64_t inner = span - (outer.extent - 1) * outer.step;
    const std::int64_t first = at >= begin ? 0 : std::min(outer.extent, (begin - at + outer.step - 1) / outer.step);
    const std::int64_t stop = end - at < inner ? 0 : std::min(outer.extent, (end - at - inner) / outer.step + 1);
    const auto one = [&](std::int64_t k) {
      loop(d, i + 1, at + k * outer.step, source, target + static_cast<std::uint64_t>(k * outer.target_stride));
    };
    if (first > 0) one(first - 1);
    if (stop > first) {
      chosen_.push_back({static_cast<std::uint64_t>(stop - first), outer.step * strides_[d], outer.target_stride});
      take_whole(d, i + 1, at + first * outer.step, source,
                 target + static_cast<std::uint64_t>(first * outer.target_stride));
      chosen_.pop_back();
    }
    const std::int64_t next = std::max(first, stop);
    if (next < outer.extent) one(next);
  }

  // Loops i.. of dimension `d` lie inside the box whole.
  void take_whole(std::size_t d, std::size_t i, std::int64_t at, std::uint64_t source, std::uint64_t target) {
    const std::size_t before = chosen_.size();
    for (std::size_t j = i; j < by_dim_[d].size(); ++j) {
      const PieceLoop& loop = by_dim_[d][j];
      chosen_.push_back({static_cast<std::uint64_t>(loop.extent), loop.step * strides_[d], loop.target_stride});
    }
    dimension(d + 1, source + static_cast<std::uint64_t>((at - box_.origin[d]) * strides_[d]), target);
    chosen_.resize(before);
  }

  const Piece& piece_;
  const Box& box_;
  const std::vector<std::int64_t> strides_;
  std::vector<CopyLoops>& out_;
  std::vector<std::vector<PieceLoop>> by_dim_;
  std::vector<CopyDim> chosen_;
};

}  // namespace

void piece_in_box(const Piece& piece, const Box& box, const Shape& block, std::vector<CopyLoops>& out) {
  BoxCutter(piece, box, block, out).run();
}

}  // namespace shardwise
