#include "load/prefault.h"

#include <algorithm>

#include "io/memory.h"
#include "plan/copies.h"
#include "shardwise/bytes.h"
#include "shardwise/device.h"

namespace shardwise {
namespace {

constexpr std::uintptr_t kHugePage = 2_MiB;
// Windows that go to more than this of a shard (of a transposed view: all of it) come to every page several times;
// these are faulted in as they are filled.
constexpr std::uint64_t kMostSpan = 16_MiB;

// Elements from the first to one past the last target element of a copy.
std::uint64_t target_span(std::span<const CopyDim> dims) {
  std::uint64_t span = 1;
  for (const CopyDim& dim : dims) span += (dim.extent - 1) * static_cast<std::uint64_t>(dim.target_stride);
  return span;
}

}  // namespace

// Encoded blocks are faulted in as they are decoded: that takes longer than the faults.
void Prefault::add(const Window& window) {
  for (std::uint32_t s = 0; s < window.segment_count; ++s) {
    const Segment& segment = plan_.segments[window.first_segment + s];
    if (segment.is_block() || segment.is_fill()) continue;
    const std::uint64_t begin = std::max(segment.range.begin, window.range.begin);
    const std::uint64_t end = std::min(segment.range.end, window.range.end);
    const std::uint64_t width = unit_width(plan_.tensors[segment.tensor].dtype);
    const std::uint64_t first = segment.first_element + (begin - segment.range.begin) / width;
    const std::uint64_t last = first + (end - begin) / width;
    for (std::uint32_t c = 0; c < segment.copy_count; ++c) {
      add_copy(window, plan_.copies[segment.first_copy + c], first, last);
    }
  }
}

void Prefault::add_copy(const Window& window, const Copy& copy, std::uint64_t first, std::uint64_t last) {
  const Shard& shard = plan_.shards[copy.shard];
  const std::uint64_t width = unit_width(plan_.variables[shard.variable].dtype);
  const std::span<const CopyDim> all(plan_.copy_dims.data() + copy.first_dim, copy.dim_count);
  clip_copy(copy.source_offset, copy.target_offset, all, first, last, scratch_,
            [&](std::uint64_t, std::uint64_t target, std::span<const CopyDim> dims) {
              const std::uint64_t size = target_span(dims) * width;
              if (size > kMostSpan) return;
              for (std::size_t r = 0; r < shard.devices.size(); ++r) {
                std::byte* data = targets_.buffer(copy.shard, r).host_data();
                if (data == nullptr) continue;
                add_memory(window, data + target * width, data + target * width + size);
              }
            });
}

void Prefault::add_memory(const Window& window, std::byte* begin, std::byte* end) {
  while (begin < end) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const std::uintptr_t page = address / kHugePage;
    const auto size = std::min<std::size_t>(static_cast<std::size_t>(end - begin), (page + 1) * kHugePage - address);
    if (pages_.claim(page)) parts_.push_back({window.file, window.range.begin, {begin, size}});
    begin += size;
  }
}

void Prefault::drop(const Window& window) {
  std::erase_if(parts_,
                [&](const Part& part) { return part.file == window.file && part.window == window.range.begin; });
}

bool Prefault::step() {
  if (parts_.empty()) return false;
  populate(parts_.front().memory);
  parts_.pop_front();
  return true;
}

}  // namespace shardwise
