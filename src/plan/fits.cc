#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/format.h"
#include "plan/peaks.h"
#include "shardwise/plan.h"

namespace shardwise {
namespace {

constexpr std::size_t kShown = 3;
constexpr std::uint64_t kWindowAllowance = 1_MiB;  // a window, and what alignment adds to it

// "'a' (46.9 MiB), 'b' (1.1 MiB)": the largest shards of any device.
std::string largest_shards(const LoadPlan& plan) {
  std::vector<const PlannedVariable*> held;
  for (const PlannedVariable& v : plan.variables) held.push_back(&v);
  const std::size_t shown = std::min(kShown, held.size());
  std::partial_sort(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(shown), held.end(),
                    [](const auto* a, const auto* b) { return a->shard_bytes > b->shard_bytes; });
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += format("{}'{}' {} ({})", i == 0 ? "" : ", ", printable(held[i]->name), to_string(held[i]->placement.layout),
                   format_bytes(held[i]->shard_bytes));
  }
  return text;
}

std::string advice(const LoadPlan& plan, std::uint64_t most) {
  std::string text = format("it would fit with {} of memory per device", format_bytes(most));
  std::uint64_t replicated = 0;
  for (const ReplicatedVariable& r : plan.replicated) replicated += r.bytes;
  if (replicated > 0) {
    text += format("; {} of each device are {} large variables that stay whole on every device (give them a layout)",
                   format_bytes(replicated), plan.replicated.size());
  }
  std::uint64_t total = 0;
  for (const PlannedVariable& v : plan.variables) total += v.shard_bytes * v.placement.boxes.size();
  const std::uint64_t limit = plan.devices.empty() ? 0 : plan.devices[0].info.memory_limit;
  if (limit != 0 && limit != kUnlimited && total / limit + 1 > plan.devices.size()) {
    text += format("; {} of weights need at least {} such devices", format_bytes(total), total / limit + 1);
  }
  return text;
}

// What is made whole must fit the staging, beside one window.
Status check_whole(const LoadPlan& plan) {
  for (const PlannedTensor& tensor : plan.tensors) {
    if (!tensor.generated || !tensor.generated->initializer.needs_whole_tensor()) continue;
    const std::uint64_t bytes = tensor.generated->initializer.host_bytes(tensor.shape, tensor.dtype);
    if (bytes + kWindowAllowance <= plan.options.staging) continue;
    return resource_exhausted(
        "variable '{}': {} makes no shard alone; the whole {} {} takes {} ({} bytes) of the host, and the staging is "
        "{}. "
        "It would fit with a staging of {}",
        printable(tensor.name), tensor.generated->initializer.class_name(), to_string(tensor.dtype),
        to_string(tensor.shape), format_bytes(bytes), bytes, format_bytes(plan.options.staging),
        format_bytes(round_up(bytes + kWindowAllowance, 1_MiB)));
  }
  return Status();
}

}  // namespace

Status check_fits(const LoadPlan& plan) {
  SHARDWISE_RETURN_IF_ERROR(check_whole(plan));
  std::size_t failing = 0;
  std::size_t first = 0;
  std::uint64_t most = 0;
  for (std::size_t d = 0; d < plan.devices.size(); ++d) {
    const DevicePlan& device = plan.devices[d];
    if (!device.local) continue;
    most = std::max(most, device.peak_bytes);
    if (device.peak_bytes <= device.info.memory_limit) continue;
    if (failing++ == 0) first = d;
  }
  if (failing == 0) return Status();
  const DevicePlan& device = plan.devices[first];
  return resource_exhausted(
      "{} of {} devices cannot hold their shards: {} needs {} ({} bytes) but is limited to {} ({} bytes, {} in use "
      "before). Largest shards: {}. What helps: {}",
      failing, plan.devices.size(), device.info.id, format_bytes(device.peak_bytes), device.peak_bytes,
      format_bytes(device.info.memory_limit), device.info.memory_limit, format_bytes(device.info.memory_in_use),
      largest_shards(plan), advice(plan, most));
}

}  // namespace shardwise
