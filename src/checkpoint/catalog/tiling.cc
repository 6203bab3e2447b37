#include "checkpoint/catalog/tiling.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/checked.h"
#include "base/format.h"

namespace shardwise {
namespace {

// Both have elements and the same rank.
bool overlap(const Box& a, const Box& b) {
  for (std::size_t d = 0; d < a.rank(); ++d) {
    if (a.origin[d] + a.extent[d] <= b.origin[d] || b.origin[d] + b.extent[d] <= a.origin[d]) return false;
  }
  return true;
}

// Disjointness by cutting: a set of boxes that falls into slabs along a dimension is as disjoint as each slab is. What
// no cut separates is compared pair by pair. Thread-compatible; used once.
class DisjointCheck {
 public:
  explicit DisjointCheck(std::vector<const Box*>& boxes)
      : rank_(boxes.front()->rank()), budget_(kStepsPerBox * (rank_ + 1) * (boxes.size() + kFreeBoxes)) {
    push(boxes, 0, 0);
  }

  Status run() {
    while (!work_.empty()) {
      const Part part = work_.back();
      work_.pop_back();
      SHARDWISE_RETURN_IF_ERROR(step(part));
    }
    return {};
  }

 private:
  static constexpr std::uint64_t kStepsPerBox = 16;
  static constexpr std::uint64_t kFreeBoxes = 4096;

  // Boxes that may touch each other. `tried` dimensions in a row, the last being the one before `dim`, did not cut it.
  struct Part {
    std::span<const Box*> boxes;
    std::size_t dim;
    std::size_t tried;
  };

  void push(std::span<const Box*> boxes, std::size_t dim, std::size_t tried) {
    if (boxes.size() > 1) work_.push_back({boxes, rank_ == 0 ? 0 : dim % rank_, tried});
  }

  Status spend(std::uint64_t steps) {
    if (steps > budget_) return unimplemented("its blocks lie in no order that can be checked in reasonable time");
    budget_ -= steps;
    return {};
  }

  Status step(const Part& part) {
    if (part.tried >= rank_) return pairwise(part.boxes);
    SHARDWISE_RETURN_IF_ERROR(spend(part.boxes.size()));
    const std::size_t dim = part.dim;
    std::sort(part.boxes.begin(), part.boxes.end(),
              [dim](const Box* a, const Box* b) { return a->origin[dim] < b->origin[dim]; });
    std::size_t begin = 0;
    std::int64_t slab_end = 0;
    for (std::size_t i = 0; i < part.boxes.size(); ++i) {
      const Box& box = *part.boxes[i];
      if (i > begin && box.origin[dim] >= slab_end) {
        push(part.boxes.subspan(begin, i - begin), dim + 1, 0);
        begin = i;
      }
      slab_end = std::max(i == begin ? 0 : slab_end, box.origin[dim] + box.extent[dim]);
    }
    push(part.boxes.subspan(begin), dim + 1, begin == 0 ? part.tried + 1 : 0);
    return {};
  }

  Status pairwise(std::span<const Box*> boxes) {
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      SHARDWISE_RETURN_IF_ERROR(spend(i));
      for (std::size_t j = 0; j < i; ++j) {
        if (!overlap(*boxes[i], *boxes[j])) continue;
        return data_loss("two blocks, {} and {}, overlap", to_string(*boxes[j]), to_string(*boxes[i]));
      }
    }
    return {};
  }

  std::size_t rank_;
  std::uint64_t budget_;
  std::vector<Part> work_;
};

// True when the boxes are the blocks of a regular grid over `shape`, each once: what chunked datasets are. False says
// nothing yet. Linear.
bool is_regular_grid(const Shape& shape, std::span<const Box*> boxes) {
  const std::vector<std::int64_t>& block = boxes.front()->extent;
  std::uint64_t cells = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    cells *= ceil_div(static_cast<std::uint64_t>(shape[d]), static_cast<std::uint64_t>(block[d]));
  }
  if (cells != boxes.size()) return false;
  std::vector<bool> seen(boxes.size());
  for (const Box* box : boxes) {
    std::uint64_t cell = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t origin = box->origin[d];
      if (origin % block[d] != 0 || box->extent[d] != std::min(block[d], shape[d] - origin)) return false;
      cell = cell * ceil_div(static_cast<std::uint64_t>(shape[d]), static_cast<std::uint64_t>(block[d])) +
             static_cast<std::uint64_t>(origin / block[d]);
    }
    if (seen[cell]) return false;
    seen[cell] = true;
  }
  return true;
}

}  // namespace

Status check_tiling(const Shape& shape, std::vector<const Box*>& boxes) {
  if (!boxes.empty() && is_regular_grid(shape, boxes)) return {};
  const std::uint64_t wanted = Box::whole(shape).elements();
  std::uint64_t provided = 0;
  for (const Box* box : boxes) provided = checked_add(provided, box->elements()).value_or(~std::uint64_t{0});
  if (boxes.size() > 1) SHARDWISE_RETURN_IF_ERROR(DisjointCheck(boxes).run());
  if (provided == wanted) return {};
  return data_loss("its {} blocks provide {} of {} elements", boxes.size(), provided, wanted);
}

}  // namespace shardwise
