#include "plan/peaks.h"

#include <algorithm>

#include "base/checked.h"
#include "plan/windows.h"

namespace shardwise {
namespace {

// Threads, rings, inflate states, file handles, allocator slack: measured at 3 to 6 MiB, see docs/memory.md.
constexpr std::uint64_t kFixedHostBytes = 12_MiB;
// An initializer, its generator and the tables of that.
constexpr std::uint64_t kGeneratorBytes = 4_KiB;
// How far a discarding load may run ahead of the arrays that are not finished yet, per device (at most a quarter of
// all).
constexpr std::uint64_t kDiscardAhead = 64_MiB;

// First and last window that touch each variable: it lives between them when arrays are discarded.
struct Life {
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
};

std::vector<Life> lives(const LoadPlan& plan) {
  std::vector<Life> out(plan.variables.size());
  WindowCursor cursor(plan);
  Window window;
  for (std::uint64_t n = 0; cursor.next(window); ++n) {
    for (std::uint32_t s = 0; s < window.segment_count; ++s) {
      const PlannedTensor& tensor = plan.tensors[plan.segments[window.first_segment + s].tensor];
      for (std::uint32_t v : tensor.variables) {
        out[v].first = std::min(out[v].first, n);
        out[v].last = std::max(out[v].last, n);
      }
    }
  }
  return out;
}

std::uint64_t bytes_on(const LoadPlan& plan, const PlannedVariable& variable, std::size_t device) {
  const std::uint32_t box = variable.placement.device_box[device];
  if (!plan.devices[device].local || box == Placement::kNoBox) return 0;
  const Shard& shard = plan.shards[variable.first_shard + box];
  return allocated_bytes(plan.devices[device].info, shard.bytes);
}

// Highest sum of live variables on each device when windows are worked off one by one.
std::vector<std::uint64_t> serial_peaks(const LoadPlan& plan) {
  struct Change {
    std::uint64_t window;
    bool ends;  // after the window; begins count before it
    std::uint32_t variable;
    bool operator<(const Change& o) const {
      return std::tie(window, ends, variable) < std::tie(o.window, o.ends, o.variable);
    }
  };
  std::vector<Change> changes;
  const std::vector<Life> life = lives(plan);
  for (std::uint32_t v = 0; v < life.size(); ++v) {
    if (life[v].first > life[v].last) continue;
    changes.push_back({life[v].first, false, v});
    changes.push_back({life[v].last, true, v});
  }
  std::sort(changes.begin(), changes.end());
  std::vector<std::uint64_t> now(plan.devices.size(), 0);
  std::vector<std::uint64_t> peak(plan.devices.size(), 0);
  for (const Change& change : changes) {
    for (std::size_t d = 0; d < now.size(); ++d) {
      const std::uint64_t bytes = bytes_on(plan, plan.variables[change.variable], d);
      now[d] = change.ends ? now[d] - bytes : now[d] + bytes;
      peak[d] = std::max(peak[d], now[d]);
    }
  }
  return peak;
}

template <typename T>
std::uint64_t held(const std::vector<T>& v) {
  return v.capacity() * sizeof(T);
}
std::uint64_t held(const std::string& s) { return s.capacity() > 15 ? s.capacity() + 17 : 0; }
std::uint64_t held(const Box& box) { return 32 + held(box.origin) + held(box.extent); }

std::uint64_t catalog_bytes(const Catalog& catalog) {
  std::uint64_t sum = held(catalog.tensors) + held(catalog.encodings);
  for (const TensorInfo& tensor : catalog.tensors) {
    sum += held(tensor.name) + held(tensor.shape) + held(tensor.extents) + 64;
    for (const Extent& extent : tensor.extents) sum += held(extent.box);
  }
  for (const auto& [key, value] : catalog.metadata) sum += 64 + held(key) + held(value);
  return sum;
}

std::uint64_t plan_bytes(const LoadPlan& plan) {
  std::uint64_t sum = held(plan.tensors) + held(plan.variables) + held(plan.shards) + held(plan.reads) +
                      held(plan.segments) + held(plan.boxes) + held(plan.copies) + held(plan.copy_dims);
  for (const PlannedTensor& tensor : plan.tensors)
    sum += held(tensor.name) + held(tensor.shape) + held(tensor.variables) + 48;
  for (const PlannedVariable& v : plan.variables) {
    sum += held(v.name) + held(v.tensor) + held(v.stored_shape) + held(v.placement.boxes) +
           held(v.placement.device_box) + 256;
    for (const Box& box : v.placement.boxes) sum += held(box);
  }
  for (const Shard& shard : plan.shards) sum += held(shard.devices) + 16;
  for (const Box& box : plan.boxes) sum += held(box);
  for (const PlannedTensor& tensor : plan.tensors) sum += tensor.generated ? kGeneratorBytes : 0;
  return sum;
}

// What the load may have in flight. Values that are made go straight into their shards, or through one window per
// thread: a load that reads nothing needs little.
std::uint64_t staging_bytes(const LoadPlan& plan) {
  const bool reads =
      std::any_of(plan.reads.begin(), plan.reads.end(), [](const Read& read) { return read.file != Extent::kNoFile; });
  return reads ? plan.options.staging : std::min(plan.options.staging, kMinStaging + plan.host.whole_bytes);
}

}  // namespace

std::uint64_t allocated_bytes(const DeviceInfo& device, std::uint64_t bytes) {
  return round_up(bytes, device.alignment);
}

void predict_devices(LoadPlan& plan) {
  for (const PlannedVariable& variable : plan.variables) {
    for (std::size_t d = 0; d < plan.devices.size(); ++d) plan.devices[d].bytes += bytes_on(plan, variable, d);
  }
  std::vector<std::uint64_t> serial;
  if (plan.options.retain == Retain::kDiscard) serial = serial_peaks(plan);
  for (std::size_t d = 0; d < plan.devices.size(); ++d) {
    DevicePlan& device = plan.devices[d];
    device.load_bytes = device.bytes;
    if (!serial.empty()) {
      // Room for the next arrays while the last are finished, if the device has it; what one needs at least, else.
      const std::uint64_t ahead = std::max(serial[d], std::min(kDiscardAhead, device.bytes / 4));
      const std::uint64_t wanted = std::min(device.bytes, serial[d] + ahead);
      const std::uint64_t free =
          device.info.memory_limit - std::min(device.info.memory_limit, device.info.memory_in_use);
      device.load_bytes = std::max(serial[d], std::min(wanted, free));
    }
    device.peak_bytes = device.info.memory_in_use + device.load_bytes;
  }
}

void predict_host(const Catalog& catalog, LoadPlan& plan) {
  for (const PlannedTensor& tensor : plan.tensors) {
    if (!tensor.generated || !tensor.generated->initializer.needs_whole_tensor()) continue;
    plan.host.whole_bytes =
        std::max(plan.host.whole_bytes, tensor.generated->initializer.host_bytes(tensor.shape, tensor.dtype));
  }
  plan.host.staging_bytes = staging_bytes(plan);
  // Allocator rounding and what the readers needed while parsing: a half more than what is held in the end.
  plan.host.metadata_bytes = (catalog_bytes(catalog) + plan_bytes(plan)) * 3 / 2;
  plan.host.peak_bytes = plan.host.staging_bytes + plan.host.metadata_bytes + kFixedHostBytes;
}

// With F bytes in the file, B bytes of the variable, and every shard resident on device 0 (the old values):
//   sharded, same dtype    2 B          the whole tensor, and all its slices made on device 0 before they are copied
//   out sharded, converted     max(F + B, 2 B) replicated             B (converted: F + B); what arrives becomes the
//   shard, the old value is still there
// over what is resident. Values that are made are counted as loaded ones: making them takes device 0 more than that.
// Host: the largest tensor as numpy (a .keras archive is read whole first).
LoadThenShard load_then_shard(const LoadPlan& plan) {
  LoadThenShard out;
  std::uint64_t resident = 0;
  std::uint64_t most = 0;
  std::uint64_t largest = 0;
  for (const PlannedVariable& variable : plan.variables) {
    const std::uint64_t stored = byte_count(variable.stored_shape, variable.stored_dtype).value();
    const std::uint64_t bytes = byte_count(variable.placement.shape, variable.dtype).value();
    const bool converted = variable.dtype != variable.stored_dtype;
    const bool sharded = variable.placement.boxes.size() > 1;
    resident += variable.shard_bytes;
    std::uint64_t extra = sharded ? 2 * bytes : bytes;
    if (converted) extra = sharded ? std::max(stored + bytes, 2 * bytes) : stored + bytes;
    most = std::max(most, extra);
    if (extra + variable.shard_bytes > out.largest_peak_bytes) {
      out.largest_peak_bytes = extra + variable.shard_bytes;
      out.largest = variable.name;
    }
    if (variable.initializer.empty()) largest = std::max(largest, stored + (converted ? bytes : 0));
  }
  out.device0_peak_bytes = resident + most;
  out.host_peak_bytes = largest;
  if (plan.format == "keras") {
    for (const CatalogFile& file : plan.files) out.host_peak_bytes += file.size;
  }
  return out;
}

}  // namespace shardwise
