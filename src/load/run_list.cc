#include "load/run_list.h"

#include <algorithm>

#include "plan/copies.h"
#include "shardwise/device.h"

namespace shardwise {
namespace {

// Between addresses at different places of a cache line the kernel copies short runs so slowly that the way over a
// buffer is faster (measured: 1.3 to 1.8 times the time per run of 512 B to 2 KiB).
constexpr std::uint64_t kCacheLine = 64;

}  // namespace

bool RunList::suits(const Segment& segment, const Copy& copy) const {
  const Shard& shard = plan_.shards[copy.shard];
  const PlannedVariable& variable = plan_.variables[shard.variable];
  if (variable.dtype != variable.stored_dtype || shard.devices.size() != 1) return false;
  if (copy.dim_count == 0) return false;
  const CopyDim& inner = plan_.copy_dims[copy.first_dim + copy.dim_count - 1];
  const std::uint64_t width = unit_width(plan_.tensors[segment.tensor].dtype);
  if (inner.source_stride != 1 || inner.target_stride != 1 || inner.extent * width < kMinRunBytes) return false;
  const std::byte* data = targets_.buffer(copy.shard, 0).host_data();
  if (data == nullptr) return false;
  for (std::uint32_t d = 0; d + 1 < copy.dim_count; ++d) {
    const CopyDim& dim = plan_.copy_dims[copy.first_dim + d];
    if (static_cast<std::uint64_t>(dim.source_stride - dim.target_stride) * width % kCacheLine != 0) return false;
  }
  const std::uint64_t in_file = segment.range.begin + (copy.source_offset - segment.first_element) * width;
  const std::uint64_t in_memory = reinterpret_cast<std::uintptr_t>(data) + copy.target_offset * width;
  return (in_file - in_memory) % kCacheLine == 0;
}

void RunList::add_copy(const Copy& copy, std::uint64_t first, std::uint64_t last, std::uint64_t width) {
  std::byte* target = targets_.buffer(copy.shard, 0).host_data();
  const std::span<const CopyDim> all(plan_.copy_dims.data() + copy.first_dim, copy.dim_count);
  clip_copy(copy.source_offset, copy.target_offset, all, first, last, scratch_,
            [&](std::uint64_t from, std::uint64_t to, std::span<const CopyDim> dims) {
              // Clipping a run leaves a shorter run or, of one element, no dimension at all.
              const bool dense = !dims.empty() && dims.back().source_stride == 1;
              const std::uint64_t run = dense ? dims.back().extent : 1;
              const std::size_t outer = dense ? dims.size() - 1 : dims.size();
              std::vector<std::uint64_t> at(outer, 0);
              while (true) {
                std::uint64_t s = from;
                std::uint64_t t = to;
                for (std::size_t d = 0; d < outer; ++d) {
                  s += at[d] * static_cast<std::uint64_t>(dims[d].source_stride);
                  t += at[d] * static_cast<std::uint64_t>(dims[d].target_stride);
                }
                unordered_.push_back({s, target + t * width, run * width});
                std::size_t d = outer;
                while (d > 0 && ++at[d - 1] == dims[d - 1].extent) at[--d] = 0;
                if (d == 0) return;
              }
            });
}

bool RunList::make(const Window& window) {
  if (window.segment_count != 1 || window.direct) return false;
  const Segment& segment = plan_.segments[window.first_segment];
  if (segment.is_block() || segment.is_fill()) return false;
  for (std::uint32_t c = 0; c < segment.copy_count; ++c) {
    if (!suits(segment, plan_.copies[segment.first_copy + c])) return false;
  }
  const std::uint64_t width = unit_width(plan_.tensors[segment.tensor].dtype);
  const std::uint64_t first = segment.first_element + (window.range.begin - segment.range.begin) / width;
  const std::uint64_t last = first + window.range.size() / width;
  unordered_.clear();
  for (std::uint32_t c = 0; c < segment.copy_count; ++c) {
    add_copy(plan_.copies[segment.first_copy + c], first, last, width);
  }
  // In file order they must be the window, each byte once: not so where somebody wants only a part, or two want the
  // same.
  std::sort(unordered_.begin(), unordered_.end(), [](const Run& a, const Run& b) { return a.source < b.source; });
  runs_.clear();
  std::uint64_t next = first;
  for (const Run& run : unordered_) {
    if (run.source != next) return false;
    next += run.bytes / width;
    runs_.emplace_back(run.target, run.bytes);
  }
  return next == last;
}

}  // namespace shardwise
