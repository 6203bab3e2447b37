#include <algorithm>
#include <bit>

#include "base/format.h"
#include "plan/peaks.h"
#include "plan/segments.h"
#include "shardwise/plan.h"

namespace shardwise {
namespace {

// A sixteenth of the staging, so that several threads have several reads in flight; at most what a second-level cache
// holds, so that bytes are still there when they are scattered.
std::uint64_t window_bytes(std::uint64_t staging) { return std::clamp(std::bit_floor(staging / 16), 256_KiB, 512_KiB); }

Status check(const PlanOptions& options, const DeviceMesh& mesh) {
  if (options.staging < kMinStaging) {
    return invalid_argument("staging of {} is below the least of {}", format_bytes(options.staging),
                            format_bytes(kMinStaging));
  }
  for (std::size_t d : options.local_devices) {
    if (d >= mesh.size()) return invalid_argument("device number {} is outside the mesh of {} devices", d, mesh.size());
  }
  return Status();
}

std::vector<DevicePlan> device_plans(const PlanOptions& options, const DeviceMesh& mesh) {
  std::vector<DevicePlan> devices;
  for (const MeshDevice& device : mesh.devices()) {
    DevicePlan plan;
    plan.info = device.info;
    plan.local = options.local_devices.empty();
    devices.push_back(std::move(plan));
  }
  for (std::size_t d : options.local_devices) devices[d].local = true;
  return devices;
}

}  // namespace

Result<LoadPlan> make_plan(const Bindings& bindings, const PlanOptions& options) {
  SHARDWISE_RETURN_IF_ERROR(check(options, bindings.mesh));
  const Catalog& catalog = *bindings.catalog;
  LoadPlan plan{.format = catalog.format,
                .path = catalog.path,
                .options = options,
                .window = window_bytes(options.staging),
                .mesh = bindings.mesh,
                .devices = device_plans(options, bindings.mesh),
                .host = {},
                .reads_total = {},
                .generated_bytes = 0,
                .load_then_shard = {},
                .files = catalog.files,
                .encodings = {},
                .tensors = {},
                .variables = {},
                .shards = {},
                .reads = {},
                .segments = {},
                .boxes = {},
                .copies = {},
                .copy_dims = {},
                .unmatched_rules = bindings.unmatched_rules,
                .replicated = bindings.replicated,
                .unused_tensors = bindings.unused_tensors,
                .notes = bindings.notes};
  SHARDWISE_ASSIGN_OR_RETURN(std::vector<FiledSegment> segments, make_segments(bindings, plan));
  make_reads(std::move(segments), plan);
  predict_devices(plan);
  predict_host(catalog, plan);
  plan.load_then_shard = load_then_shard(plan);
  return plan;
}

Result<LoadPlan> make_plan(const Result<Bindings>& bindings, const PlanOptions& options) {
  if (!bindings.ok()) return bindings.status();
  return make_plan(*bindings, options);
}

}  // namespace shardwise
