#include "plan/windows.h"

#include <algorithm>

#include "plan/copies.h"
#include "plan/pieces.h"

namespace shardwise {

// Up to the end of the copy that holds the next element, at most one window.
void WindowCursor::direct_window(const Segment& segment, Window& window) {
  const std::uint64_t width = unit_width(plan_.tensors[segment.tensor].dtype);
  const std::uint64_t element = segment.first_element + done_ / width;
  std::uint64_t end = segment.first_element + segment.element_count;
  for (std::uint32_t c = 0; c < segment.copy_count; ++c) {
    const Copy& copy = plan_.copies[segment.first_copy + c];
    const std::uint64_t first = copy.source_offset;
    const std::uint64_t last = first + elements({plan_.copy_dims.data() + copy.first_dim, copy.dim_count});
    if (first <= element && element < last) end = std::min(end, last);
    if (first > element) end = std::min(end, first);
  }
  const std::uint64_t bytes = std::min((end - element) * width, plan_.window / width * width);
  window.range = {segment.range.begin + done_, segment.range.begin + done_ + bytes};
  window.direct = true;
}

void WindowCursor::generated_window(const Segment& segment, Window& window) {
  const PlannedTensor& tensor = plan_.tensors[segment.tensor];
  window.generated = true;
  window.range = segment.range;
  if (tensor.generated->initializer.needs_whole_tensor()) return;
  const std::uint64_t width = byte_width(tensor.dtype);
  const Shape& shard = plan_.variables[tensor.variables[0]].placement.shard_shape;
  const std::uint64_t count = piece_elements(shard, done_ / width, plan_.window / width);
  window.range = {done_, done_ + count * width};
}

// Bytes of one step of the outermost loop of the segment's copies: rows of a matrix cut by columns. Windows that begin
// and end with rows are scattered in whole runs.
std::uint64_t WindowCursor::row_bytes(const Segment& segment, std::uint64_t width) const {
  if (segment.copy_count == 0) return width;
  const Copy& copy = plan_.copies[segment.first_copy];
  if (copy.dim_count < 2) return width;
  return static_cast<std::uint64_t>(plan_.copy_dims[copy.first_dim].source_stride) * width;
}

// Of a raw segment, what fits into `room` bytes: up to the last whole row, else the last whole element.
std::uint64_t WindowCursor::part_of_raw(const Segment& segment, std::uint64_t room) const {
  const std::uint64_t width = unit_width(plan_.tensors[segment.tensor].dtype);
  const std::uint64_t row = row_bytes(segment, width);
  const std::uint64_t at = segment.first_element * width + done_;  // from the tensor's beginning
  const std::uint64_t end = (at + room) / row * row;
  return end > at ? end - at : room / width * width;
}

bool WindowCursor::next(Window& window) {
  while (read_ < plan_.reads.size() && segment_ == plan_.reads[read_].segment_count) {
    ++read_;
    segment_ = 0;
    done_ = 0;
  }
  if (read_ == plan_.reads.size()) return false;
  const Read& read = plan_.reads[read_];
  window = Window{read.file, {}, read.first_segment + segment_, 1};
  const Segment* segment = &plan_.segments[window.first_segment];
  if (segment->is_fill()) {
    ++segment_;
    return true;
  }
  if (segment->direct || segment->generated) {
    segment->direct ? direct_window(*segment, window) : generated_window(*segment, window);
    done_ += window.range.size();
    if (done_ == segment->range.size()) ++segment_, done_ = 0;
    return true;
  }
  window.range = {segment->range.begin + done_, segment->range.begin + done_};
  while (true) {  // whole segments while they fit, then a part of a raw one
    const std::uint64_t room = plan_.window - std::min(plan_.window, segment->range.begin + done_ - window.range.begin);
    const std::uint64_t left = segment->range.size() - done_;
    const std::uint64_t width = unit_width(plan_.tensors[segment->tensor].dtype);
    const bool first = window.range.empty();
    std::uint64_t take = left;
    if (left > room && !(segment->is_block() && first)) take = segment->is_block() ? 0 : part_of_raw(*segment, room);
    if (take == 0 && first) take = width;
    if (take == 0) {
      --window.segment_count;
      return true;
    }
    window.range.end = segment->range.begin + done_ + take;
    done_ += take;
    if (take < left) return true;
    done_ = 0;
    if (++segment_ == read.segment_count) return true;
    segment = &plan_.segments[read.first_segment + segment_];
    if (segment->direct || segment->is_fill() || segment->range.begin < window.range.end) return true;
    ++window.segment_count;
  }
}

}  // namespace shardwise
