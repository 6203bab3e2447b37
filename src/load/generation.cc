#include "load/generation.h"

#include <cstring>

#include "base/format.h"
#include "load/block_values.h"
#include "load/stopwatch.h"
#include "plan/pieces.h"
#include "shardwise/device.h"

namespace shardwise {
namespace {

Result<Generator> generator_of(const PlannedTensor& tensor) {
  const Generated& generated = *tensor.generated;
  return make_generator(generated.initializer, tensor.shape, tensor.dtype,
                        generated.rounding.value_or(Rounding::kEager));
}

std::string named(const PlannedTensor& tensor) { return format("variable '{}'", printable(tensor.name)); }

}  // namespace

Result<std::vector<std::optional<Generator>>> make_generators(const LoadPlan& plan) {
  std::vector<std::optional<Generator>> generators(plan.tensors.size());
  for (std::size_t t = 0; t < plan.tensors.size(); ++t) {
    const PlannedTensor& tensor = plan.tensors[t];
    if (!tensor.generated || tensor.generated->initializer.needs_whole_tensor()) continue;
    auto generator = generator_of(tensor);
    if (!generator.ok()) return generator.status().with_context(named(tensor));
    generators[t] = std::move(generator).value();
  }
  return generators;
}

Status Generation::window(const Window& window, std::span<std::byte> staged, std::stop_token stop) {
  const LoadPlan& plan = context_.plan;
  const Segment& segment = plan.segments[window.first_segment];
  const auto& generator = context_.generators[segment.tensor];
  std::uint64_t sum = 0;
  Status status = generator ? piece(*generator, plan.copies[segment.first_copy].shard, window.range, staged, sum)
                            : whole(segment, staged, stop, sum);
  if (!status.ok()) return status.with_context(named(plan.tensors[segment.tensor]));
  costs_.bytes_generated += window.range.size();
  return context_.targets.finish_window(segment.tensor, sum);
}

Status Generation::whole(const Segment& segment, std::span<std::byte> staged, std::stop_token stop,
                         std::uint64_t& sum) {
  const LoadPlan& plan = context_.plan;
  const PlannedTensor& tensor = plan.tensors[segment.tensor];
  const std::uint64_t bytes = tensor.generated->initializer.host_bytes(tensor.shape, tensor.dtype);
  SHARDWISE_ASSIGN_OR_RETURN(const Budget::Reservation reservation, context_.block_budget.reserve(bytes, stop));
  std::optional<Generator> generator;
  {
    Stopwatch watch(costs_.generate_seconds);
    SHARDWISE_ASSIGN_OR_RETURN(generator, generator_of(tensor));
  }
  const std::uint64_t width = byte_width(tensor.dtype);
  for (std::uint32_t c = 0; c < segment.copy_count; ++c) {
    const std::uint32_t index = plan.copies[segment.first_copy + c].shard;
    const Shard& shard = plan.shards[index];
    const Shape& extent = plan.variables[shard.variable].placement.shard_shape;
    for (std::uint64_t done = 0; done < shard.bytes;) {
      if (stop.stop_requested()) return cancelled("the load was stopped");
      const std::uint64_t size = piece_elements(extent, done / width, plan.window / width) * width;
      SHARDWISE_RETURN_IF_ERROR(piece(*generator, index, {done, done + size}, staged, sum));
      done += size;
    }
  }
  return Status();
}

Status Generation::piece(const Generator& generator, std::uint32_t shard, ByteRange range, std::span<std::byte> staged,
                         std::uint64_t& sum) {
  const LoadPlan& plan = context_.plan;
  const PlannedVariable& variable = plan.variables[plan.shards[shard].variable];
  const std::uint64_t width = byte_width(variable.dtype);
  const Box box =
      piece_box(variable.placement.boxes[plan.shards[shard].box], range.begin / width, range.size() / width);
  std::byte* const first = context_.targets.buffer(shard, 0).host_data();
  const std::span<std::byte> made =
      first != nullptr ? std::span(first + range.begin, range.size()) : staged.first(range.size());
  {
    Stopwatch watch(costs_.generate_seconds);
    SHARDWISE_RETURN_IF_ERROR(generator.generate(box, made));
  }
  if (context_.options.fingerprints && variable.reads_whole_tensor) {
    Stopwatch watch(costs_.fingerprint_seconds);
    sum += block_fingerprint(variable.placement.shape, box, box.extent, 0, made, width);
  }
  return mirror(shard, range, made);
}

Status Generation::mirror(std::uint32_t shard, ByteRange range, std::span<const std::byte> made) {
  Stopwatch watch(costs_.copy_seconds);
  const LoadPlan& plan = context_.plan;
  for (std::size_t r = 0; r < plan.shards[shard].devices.size(); ++r) {
    Buffer& buffer = context_.targets.buffer(shard, r);
    std::byte* const data = buffer.host_data();
    if (data != nullptr && data + range.begin == made.data()) continue;
    costs_.bytes_copied += made.size();
    if (data != nullptr) {
      std::memcpy(data + range.begin, made.data(), made.size());
      continue;
    }
    Device& device = *plan.mesh.devices()[plan.shards[shard].devices[r]].device;
    SHARDWISE_ASSIGN_OR_RETURN(const auto event, device.copy_from_host(buffer, range.begin, made));
    SHARDWISE_RETURN_IF_ERROR(event->wait());
  }
  return Status();
}

}  // namespace shardwise
