#include "random/stream_source.h"

#include <algorithm>
#include <array>

#include "random/box_runs.h"

namespace shardwise {
namespace {

// Runs shorter than this share blocks, with the index of each element written out.
constexpr std::uint64_t kShortRun = 128;

}  // namespace

Status StreamSource::fill_run(std::uint64_t first, std::uint64_t count, std::byte* out) const {
  while (count != 0) {
    const std::size_t now = std::min<std::uint64_t>(count, kRandomBlock);
    fill_block({.first = first, .count = now}, out);
    first += now;
    count -= now;
    out += now * element_bytes_;
  }
  return {};
}

Status StreamSource::fill_box(const Shape& shape, const Box& box, std::byte* out) const {
  const BoxRuns runs(shape, box);
  if (runs.length() >= kShortRun || runs.length() == box.elements()) {
    return runs.for_each([&](std::uint64_t first) {
      Status status = fill_run(first, runs.length(), out);
      out += runs.length() * element_bytes_;
      return status;
    });
  }
  std::array<std::uint32_t, kRandomBlock> high;
  std::array<std::uint32_t, kRandomBlock> low;
  std::size_t count = 0;
  const auto flush = [&] {
    fill_block({.high = high.data(), .low = low.data(), .count = count}, out);
    out += count * element_bytes_;
    count = 0;
  };
  SHARDWISE_RETURN_IF_ERROR(runs.for_each([&](std::uint64_t first) {
    if (count + runs.length() > kRandomBlock) flush();
    for (std::uint64_t i = 0; i < runs.length(); ++i, ++count) {
      high[count] = static_cast<std::uint32_t>((first + i) >> 32);
      low[count] = static_cast<std::uint32_t>(first + i);
    }
    return Status();
  }));
  flush();
  return {};
}

}  // namespace shardwise
