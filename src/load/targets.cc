#include "load/targets.h"

#include <algorithm>
#include <numeric>

#include "base/format.h"
#include "plan/peaks.h"
#include "plan/windows.h"
#include "shardwise/device.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kHugePage = 2_MiB;

}  // namespace

Targets::Targets(const LoadPlan& plan, const LoadOptions& options)
    : plan_(plan),
      options_(options),
      discard_(plan.options.retain == Retain::kDiscard),
      windows_left_(plan.tensors.size()),
      sums_(plan.tensors.size()),
      allocated_(plan.tensors.size(), false),
      held_(plan.devices.size(), 0) {
  std::size_t buffers = 0;
  for (const Shard& shard : plan.shards) {
    first_buffer_.push_back(buffers);
    buffers += shard.devices.size();
  }
  buffers_.resize(buffers);
}

Status Targets::begin() {
  WindowCursor cursor(plan_);
  for (Window window; cursor.next(window);) {
    std::uint32_t last = Extent::kNoFile;
    for (std::uint32_t s = 0; s < window.segment_count; ++s) {
      const std::uint32_t tensor = plan_.segments[window.first_segment + s].tensor;
      if (tensor != last) ++windows_left_[tensor];
      last = tensor;
    }
  }
  for (const std::uint32_t t : allocation_order()) {
    if (discard_ && windows_left_[t] != 0) continue;
    for (std::uint32_t v : plan_.tensors[t].variables) SHARDWISE_RETURN_IF_ERROR(allocate(v));
    allocated_[t] = true;
    if (windows_left_[t] == 0) SHARDWISE_RETURN_IF_ERROR(complete(t));
  }
  return Status();
}

// Shards that are whole huge pages come first, so that they begin with one in a device's memory. A huge page that two
// shards share is cleared when the first arrives, and has left the processor's cache when the second does.
std::vector<std::uint32_t> Targets::allocation_order() const {
  const auto whole_pages = [&](std::uint32_t tensor) {
    const auto& variables = plan_.tensors[tensor].variables;
    if (variables.empty() || plan_.variables[variables[0]].placement.boxes.empty()) return false;
    return plan_.shards[plan_.variables[variables[0]].first_shard].bytes % kHugePage == 0;
  };
  std::vector<std::uint32_t> order(plan_.tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_partition(order.begin(), order.end(), whole_pages);
  return order;
}

Status Targets::allocate(std::uint32_t variable) {
  const PlannedVariable& v = plan_.variables[variable];
  for (std::uint32_t b = 0; b < v.placement.boxes.size(); ++b) {
    const std::uint32_t index = v.first_shard + b;
    const Shard& shard = plan_.shards[index];
    for (std::size_t r = 0; r < shard.devices.size(); ++r) {
      Device& device = *plan_.mesh.devices()[shard.devices[r]].device;
      auto buffer = device.allocate(shard.bytes);
      if (!buffer.ok()) return buffer.status().with_context(format("variable '{}'", printable(v.name)));
      buffers_[first_buffer_[index] + r] = std::move(buffer).value();
    }
  }
  return Status();
}

Result<bool> Targets::prepare(std::uint32_t tensor) {
  if (allocated_[tensor]) return true;
  std::vector<std::uint64_t> need(plan_.devices.size(), 0);
  for (std::uint32_t v : plan_.tensors[tensor].variables) {
    const PlannedVariable& variable = plan_.variables[v];
    for (std::uint32_t b = 0; b < variable.placement.boxes.size(); ++b) {
      const Shard& shard = plan_.shards[variable.first_shard + b];
      for (std::uint32_t d : shard.devices) need[d] += allocated_bytes(plan_.devices[d].info, shard.bytes);
    }
  }
  {
    std::lock_guard lock(room_);
    for (std::size_t d = 0; d < need.size(); ++d) {
      if (held_[d] + need[d] > plan_.devices[d].load_bytes) return false;
    }
    for (std::size_t d = 0; d < need.size(); ++d) held_[d] += need[d];
  }
  for (std::uint32_t v : plan_.tensors[tensor].variables) SHARDWISE_RETURN_IF_ERROR(allocate(v));
  allocated_[tensor] = true;
  return true;
}

std::uint64_t Targets::generation() const {
  std::lock_guard lock(room_);
  return generation_;
}

Status Targets::wait_for_room(std::uint64_t generation, std::stop_token stop) {
  std::unique_lock lock(room_);
  if (!dropped_.wait(lock, stop, [&] { return generation_ != generation; })) return cancelled("the load was stopped");
  return Status();
}

Status Targets::finish_window(std::uint32_t tensor, std::uint64_t fingerprint) {
  sums_[tensor].fetch_add(fingerprint, std::memory_order_relaxed);
  // Release what this thread wrote, acquire what the others did before the array is handed on.
  if (windows_left_[tensor].fetch_sub(1, std::memory_order_acq_rel) != 1) return Status();
  return complete(tensor);
}

Status Targets::complete(std::uint32_t tensor) {
  Status status;
  if (options_.on_array || discard_) {
    std::lock_guard lock(publish_);
    for (std::uint32_t v : plan_.tensors[tensor].variables) {
      if (options_.on_array && status.ok()) status = options_.on_array(make_array(v));
      if (discard_) drop(v);
    }
  }
  ++tensors_done_;
  return status;
}

ShardedArray Targets::make_array(std::uint32_t variable) const {
  const PlannedVariable& v = plan_.variables[variable];
  std::vector<std::shared_ptr<const Buffer>> by_device(plan_.devices.size());
  for (std::uint32_t b = 0; b < v.placement.boxes.size(); ++b) {
    const std::uint32_t index = v.first_shard + b;
    const Shard& shard = plan_.shards[index];
    for (std::size_t r = 0; r < shard.devices.size(); ++r)
      by_device[shard.devices[r]] = buffers_[first_buffer_[index] + r];
    if (plan_.options.replicas == Replicas::kCopy || shard.devices.empty()) continue;
    for (std::size_t d = 0; d < by_device.size(); ++d) {
      if (plan_.devices[d].local && v.placement.device_box[d] == b) by_device[d] = buffers_[first_buffer_[index]];
    }
  }
  return ShardedArray(v.name, v.dtype, v.placement, std::move(by_device));
}

void Targets::drop(std::uint32_t variable) {
  const PlannedVariable& v = plan_.variables[variable];
  const bool counted = byte_count(v.placement.shape, v.dtype).value() != 0;
  std::vector<std::shared_ptr<Buffer>> gone;
  for (std::uint32_t b = 0; b < v.placement.boxes.size(); ++b) {
    const std::uint32_t index = v.first_shard + b;
    for (std::size_t r = 0; r < plan_.shards[index].devices.size(); ++r) {
      gone.push_back(std::move(buffers_[first_buffer_[index] + r]));
    }
  }
  gone.clear();
  std::lock_guard lock(room_);
  for (std::uint32_t b = 0; counted && b < v.placement.boxes.size(); ++b) {
    const Shard& shard = plan_.shards[v.first_shard + b];
    for (std::uint32_t d : shard.devices) held_[d] -= allocated_bytes(plan_.devices[d].info, shard.bytes);
  }
  ++generation_;
  dropped_.notify_all();
}

Loaded Targets::take() {
  Loaded loaded;
  for (std::uint32_t v = 0; !discard_ && v < plan_.variables.size(); ++v) loaded.arrays.push_back(make_array(v));
  for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
    const PlannedTensor& tensor = plan_.tensors[t];
    if (!options_.fingerprints || !tensor.read_whole) {
      loaded.fingerprints.push_back(std::nullopt);
      continue;
    }
    loaded.fingerprints.push_back(FingerprintSum::from_sum(sums_[t]).finish(tensor.dtype, tensor.shape));
  }
  return loaded;
}

}  // namespace shardwise
