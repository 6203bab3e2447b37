// Scatter's work on encoded blocks.
#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "codec/block_stream.h"
#include "codec/filters.h"
#include "io/memory.h"
#include "load/block_values.h"
#include "load/scatter.h"
#include "load/stopwatch.h"

namespace shardwise {
namespace {

std::vector<FilterStep> steps_of(const Encoding& encoding) {
  std::vector<FilterStep> steps;
  for (const Filter& filter : encoding.filters) {
    FilterStep step;
    switch (filter.kind) {
      case Filter::Kind::kDeflate:
        step.kind = FilterStep::Kind::kDeflate;
        break;
      case Filter::Kind::kShuffle:
        step.kind = FilterStep::Kind::kShuffle;
        break;
      case Filter::Kind::kFletcher32:
        step.kind = FilterStep::Kind::kFletcher32;
        break;
    }
    step.element_size = filter.element_size;
    steps.push_back(step);
  }
  return steps;
}

}  // namespace

// What decoding a block takes besides its stored bytes.
std::uint64_t Scatter::decode_bytes(const Segment& segment) const {
  const LoadPlan& plan = context_.plan;
  const std::vector<FilterStep> steps = steps_of(plan.encodings[segment.encoding]);
  if (steps.empty()) return 0;
  const std::uint64_t size = segment.element_count * unit_width(plan.tensors[segment.tensor].dtype);
  return size + filter_scratch_bytes(steps, segment.skipped_filters, size);
}

Status Scatter::block(const Segment& segment, std::span<const std::byte> stored, std::stop_token stop,
                      std::uint64_t& sum) {
  const std::uint64_t work = decode_bytes(segment);
  if (work > context_.block_budget.limit() / 2) {
    return stream_block(
        segment,
        [&](std::uint64_t offset, std::span<std::byte> target) {
          std::memcpy(target.data(), stored.data() + offset, target.size());
          return Status();
        },
        stop, sum);
  }
  SHARDWISE_ASSIGN_OR_RETURN(const Budget::Reservation reservation, context_.block_budget.reserve(work, stop));
  return decode(segment, stored, sum);
}

Status Scatter::decode(const Segment& segment, std::span<const std::byte> stored, std::uint64_t& sum) {
  const LoadPlan& plan = context_.plan;
  const std::vector<FilterStep> steps = steps_of(plan.encodings[segment.encoding]);
  if (steps.empty()) return decoded_part(segment, 0, stored, sum);
  const std::uint64_t size = segment.element_count * unit_width(plan.tensors[segment.tensor].dtype);
  SHARDWISE_ASSIGN_OR_RETURN(HugeBuffer memory, HugeBuffer::create(decode_bytes(segment)));
  const auto decoded = memory.span().first(size);
  {
    Stopwatch watch(costs_.decode_seconds);
    SHARDWISE_RETURN_IF_ERROR(decode_block(steps, segment.skipped_filters, stored, decoded, memory.span().subspan(size))
                                  .with_context(format("block at bytes {}", to_string(segment.range))));
  }
  return decoded_part(segment, 0, decoded, sum);
}

Status Scatter::decoded_part(const Segment& segment, std::uint64_t first, std::span<const std::byte> decoded,
                             std::uint64_t& sum) {
  const LoadPlan& plan = context_.plan;
  const PlannedTensor& tensor = plan.tensors[segment.tensor];
  const std::uint64_t width = unit_width(tensor.dtype);
  if (context_.options.fingerprints && tensor.read_whole) {
    Stopwatch watch(costs_.fingerprint_seconds);
    sum += block_fingerprint(tensor.shape, plan.boxes[segment.box], plan.encodings[segment.encoding].block_shape, first,
                             decoded, width);
  }
  return copy_part(segment, first, first + decoded.size() / width, decoded);
}

// Decodes piece by piece with bounded memory: for blocks that the budget does not hold.
Status Scatter::stream_block(const Segment& segment, const StoredBytes& read_stored, std::stop_token stop,
                             std::uint64_t& sum) {
  const LoadPlan& plan = context_.plan;
  const std::uint64_t width = unit_width(plan.tensors[segment.tensor].dtype);
  const std::uint64_t size = segment.element_count * width;
  const std::uint64_t piece = std::min(size, plan.window / width * width);
  SHARDWISE_ASSIGN_OR_RETURN(const Budget::Reservation reservation,
                             context_.block_budget.reserve(piece + BlockStream::kMaxMemory, stop));
  SHARDWISE_ASSIGN_OR_RETURN(HugeBuffer memory, HugeBuffer::create(piece));
  const std::vector<FilterStep> steps = steps_of(plan.encodings[segment.encoding]);
  SHARDWISE_ASSIGN_OR_RETURN(
      BlockStream stream, BlockStream::create(steps, segment.skipped_filters, segment.range.size(), size, read_stored));
  for (std::uint64_t done = 0; done < size; done += piece) {
    if (stop.stop_requested()) return cancelled("the load was stopped");
    const auto part = memory.span().first(std::min(piece, size - done));
    {
      Stopwatch watch(costs_.decode_seconds);
      SHARDWISE_RETURN_IF_ERROR(
          stream.read(done, part).with_context(format("block at bytes {}", to_string(segment.range))));
    }
    SHARDWISE_RETURN_IF_ERROR(decoded_part(segment, done / width, part, sum));
  }
  return Status();
}

Status Scatter::large_block(const Window& window, const File& file, std::stop_token stop) {
  const LoadPlan& plan = context_.plan;
  const Segment& segment = plan.segments[window.first_segment];
  const std::uint64_t work = decode_bytes(segment);
  const std::uint64_t limit = context_.block_budget.limit();
  std::uint64_t sum = 0;
  ++costs_.reads;
  costs_.bytes_read += window.range.size();
  Status status;
  if (window.range.size() + work > limit / 2) {
    status = stream_block(
        segment,
        [&](std::uint64_t offset, std::span<std::byte> target) {
          return file.read(window.range.begin + offset, target);
        },
        stop, sum);
  } else {
    SHARDWISE_ASSIGN_OR_RETURN(const Budget::Reservation reservation,
                               context_.block_budget.reserve(window.range.size() + work, stop));
    SHARDWISE_ASSIGN_OR_RETURN(HugeBuffer stored, HugeBuffer::create(window.range.size()));
    {
      Stopwatch watch(costs_.read_seconds);
      status = file.read(window.range.begin, stored.span());
    }
    if (status.ok()) status = decode(segment, stored.span(), sum);
  }
  if (!status.ok()) return status.with_context(format("tensor '{}'", printable(plan.tensors[segment.tensor].name)));
  return context_.targets.finish_window(segment.tensor, sum);
}

}  // namespace shardwise
