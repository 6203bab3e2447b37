#include "load/scatter.h"

#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "codec/strided_copy.h"
#include "io/scattered_read.h"
#include "load/block_values.h"
#include "load/stopwatch.h"
#include "load/upload.h"
#include "shardwise/device.h"

namespace shardwise {

Status Scatter::window(const Window& window, std::span<const std::byte> bytes, std::stop_token stop) {
  const LoadPlan& plan = context_.plan;
  std::uint64_t sum = 0;
  for (std::uint32_t s = 0; s < window.segment_count; ++s) {
    const Segment& segment = plan.segments[window.first_segment + s];
    const ByteRange range{std::max(segment.range.begin, window.range.begin),
                          std::min(segment.range.end, window.range.end)};
    const auto part = bytes.subspan(range.begin - window.range.begin, range.size());
    Status status = segment.is_block() ? block(segment, part, stop, sum) : raw(segment, range, part, sum);
    if (!status.ok()) return status.with_context(format("tensor '{}'", printable(plan.tensors[segment.tensor].name)));
    const bool last_of_tensor =
        s + 1 == window.segment_count || plan.segments[window.first_segment + s + 1].tensor != segment.tensor;
    if (!last_of_tensor) continue;
    SHARDWISE_RETURN_IF_ERROR(context_.targets.finish_window(segment.tensor, sum));
    sum = 0;
  }
  return Status();
}

Status Scatter::raw(const Segment& segment, ByteRange range, std::span<const std::byte> bytes, std::uint64_t& sum) {
  const PlannedTensor& tensor = context_.plan.tensors[segment.tensor];
  const std::uint64_t width = unit_width(tensor.dtype);
  const std::uint64_t first = segment.first_element + (range.begin - segment.range.begin) / width;
  if (context_.options.fingerprints && tensor.read_whole) {
    Stopwatch watch(costs_.fingerprint_seconds);
    FingerprintSum part;
    part.add(first, bytes, width);
    sum += part.sum();
  }
  return copy_part(segment, first, first + bytes.size() / width, bytes);
}

Status Scatter::copy_part(const Segment& segment, std::uint64_t first, std::uint64_t last,
                          std::span<const std::byte> bytes) {
  Stopwatch watch(costs_.copy_seconds);
  const LoadPlan& plan = context_.plan;
  const std::uint64_t width = unit_width(plan.tensors[segment.tensor].dtype);
  Status status;
  // Each worker begins with another shard: two that fill neighbouring parts of the same shards would else fault the
  // same huge pages one after the other, and both clear them.
  const auto turn = static_cast<std::uint32_t>(std::uint64_t{segment.copy_count} * worker_ / context_.threads);
  for (std::uint32_t c = 0; c < segment.copy_count && status.ok(); ++c) {
    const Copy& copy = plan.copies[segment.first_copy + (c + turn) % segment.copy_count];
    clip_copy(copy.source_offset, copy.target_offset, dims_of(copy), first, last, scratch_,
              [&](std::uint64_t source, std::uint64_t target, std::span<const CopyDim> dims) {
                if (!status.ok()) return;
                status = copy_to_shard(copy, dims, bytes.data() + (source - first) * width, target);
              });
  }
  return status;
}

Status Scatter::copy_to_shard(const Copy& copy, std::span<const CopyDim> dims, const std::byte* source,
                              std::uint64_t target_offset) {
  const LoadPlan& plan = context_.plan;
  const Shard& shard = plan.shards[copy.shard];
  const PlannedVariable& variable = plan.variables[shard.variable];
  // Sub-byte types move as packed bytes.
  const DType from = is_byte_sized(variable.stored_dtype) ? variable.stored_dtype : DType::kUint8;
  const DType to = is_byte_sized(variable.dtype) ? variable.dtype : DType::kUint8;
  for (std::size_t r = 0; r < shard.devices.size(); ++r) {
    Buffer& buffer = context_.targets.buffer(copy.shard, r);
    costs_.bytes_copied += elements(dims) * byte_width(to);
    if (std::byte* data = buffer.host_data()) {
      SHARDWISE_RETURN_IF_ERROR(strided_copy(dims, source, from, data + target_offset * byte_width(to), to));
    } else {
      Device& device = *plan.mesh.devices()[shard.devices[r]].device;
      SHARDWISE_RETURN_IF_ERROR(upload(device, buffer, dims, source, from, to, target_offset, packed_));
    }
  }
  return Status();
}

const Copy* Scatter::direct_copy(const Window& window, std::uint64_t first) const {
  const LoadPlan& plan = context_.plan;
  const Segment& segment = plan.segments[window.first_segment];
  for (std::uint32_t c = 0; c < segment.copy_count; ++c) {
    const Copy& copy = plan.copies[segment.first_copy + c];
    if (copy.source_offset <= first && first < copy.source_offset + elements(dims_of(copy))) return &copy;
  }
  return nullptr;
}

std::uint64_t Scatter::first_element(const Window& window) const {
  const Segment& segment = context_.plan.segments[window.first_segment];
  const std::uint64_t width = unit_width(context_.plan.tensors[segment.tensor].dtype);
  return segment.first_element + (window.range.begin - segment.range.begin) / width;
}

bool Scatter::can_read_into_shard(const Window& window) const {
  const Copy* copy = direct_copy(window, first_element(window));
  if (copy == nullptr) return false;
  for (std::size_t r = 0; r < context_.plan.shards[copy->shard].devices.size(); ++r) {
    if (context_.targets.buffer(copy->shard, r).host_data() == nullptr) return false;
  }
  return true;
}

Status Scatter::direct_window(const Window& window, const File& file) {
  const LoadPlan& plan = context_.plan;
  const Segment& segment = plan.segments[window.first_segment];
  const PlannedTensor& tensor = plan.tensors[segment.tensor];
  const std::uint64_t width = unit_width(tensor.dtype);
  const std::uint64_t first = first_element(window);
  const Copy* copy = direct_copy(window, first);
  const std::uint64_t offset = (copy->target_offset + first - copy->source_offset) * width;
  const std::uint64_t size = window.range.size();
  std::byte* target = context_.targets.buffer(copy->shard, 0).host_data() + offset;
  {
    Stopwatch watch(costs_.read_seconds);
    SHARDWISE_RETURN_IF_ERROR(
        file.read(window.range.begin, {target, size}).with_context(format("tensor '{}'", printable(tensor.name))));
  }
  ++costs_.reads;
  costs_.bytes_read += size;
  std::uint64_t sum = 0;
  if (context_.options.fingerprints && tensor.read_whole) {
    Stopwatch watch(costs_.fingerprint_seconds);
    FingerprintSum part;
    part.add(first, {target, size}, width);
    sum = part.sum();
  }
  Stopwatch watch(costs_.copy_seconds);
  for (std::size_t r = 1; r < plan.shards[copy->shard].devices.size(); ++r) {
    std::memcpy(context_.targets.buffer(copy->shard, r).host_data() + offset, target, size);
    costs_.bytes_copied += size;
  }
  return context_.targets.finish_window(segment.tensor, sum);
}

Result<bool> Scatter::scattered_window(const Window& window, const File& file) {
  const LoadPlan& plan = context_.plan;
  {
    Stopwatch watch(costs_.copy_seconds);
    if (!run_list_.make(window)) return false;
  }
  const Segment& segment = plan.segments[window.first_segment];
  const PlannedTensor& tensor = plan.tensors[segment.tensor];
  {
    Stopwatch watch(costs_.read_seconds);
    SHARDWISE_RETURN_IF_ERROR(read_scattered(file, window.range.begin, run_list_.runs())
                                  .with_context(format("tensor '{}'", printable(tensor.name))));
  }
  ++costs_.reads;
  costs_.bytes_read += window.range.size();
  FingerprintSum sum;
  if (context_.options.fingerprints && tensor.read_whole) {
    Stopwatch watch(costs_.fingerprint_seconds);
    const std::uint64_t width = unit_width(tensor.dtype);
    std::uint64_t element = first_element(window);
    for (const std::span<std::byte> run : run_list_.runs()) {
      sum.add(element, run, width);
      element += run.size() / width;
    }
  }
  SHARDWISE_RETURN_IF_ERROR(context_.targets.finish_window(segment.tensor, sum.sum()));
  return true;
}

Status Scatter::fill_window(const Window& window) {
  const LoadPlan& plan = context_.plan;
  const Segment& segment = plan.segments[window.first_segment];
  const PlannedTensor& tensor = plan.tensors[segment.tensor];
  const std::uint64_t width = unit_width(tensor.dtype);
  std::vector<std::byte> value(width, std::byte{0});
  if (tensor.fill.size() == width) std::memcpy(value.data(), tensor.fill.data(), width);
  {
    Stopwatch watch(costs_.copy_seconds);
    for (std::uint32_t c = 0; c < segment.copy_count; ++c) {
      const Copy& copy = plan.copies[segment.first_copy + c];
      std::vector<CopyDim> dims(dims_of(copy).begin(), dims_of(copy).end());
      for (CopyDim& dim : dims) dim.source_stride = 0;  // the same element everywhere
      SHARDWISE_RETURN_IF_ERROR(copy_to_shard(copy, dims, value.data(), copy.target_offset));
    }
  }
  std::uint64_t sum = 0;
  if (context_.options.fingerprints && tensor.read_whole) {
    Stopwatch watch(costs_.fingerprint_seconds);
    const Box box = segment.is_block() ? plan.boxes[segment.box] : Box::whole(tensor.shape);
    sum = fill_fingerprint(tensor.shape, box, value);
  }
  return context_.targets.finish_window(segment.tensor, sum);
}

}  // namespace shardwise
