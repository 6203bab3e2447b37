#include <algorithm>

#include "base/format.h"
#include "shardwise/plan.h"

namespace shardwise {
namespace {

constexpr std::size_t kListed = 8;  // rules, replicated variables, notes

std::string limit_text(std::uint64_t limit) { return limit == kUnlimited ? "unlimited" : format_bytes(limit); }

void print_head(const LoadPlan& plan, std::string& out) {
  std::uint64_t total = 0;
  for (const PlannedVariable& v : plan.variables) total += v.shard_bytes * v.placement.boxes.size();
  out +=
      format("plan: {} ({}), {} variables, {}\n", plan.path, plan.format, plan.variables.size(), format_bytes(total));
  out += format("mesh: {}\n", plan.mesh.to_string());
}

void print_devices(const LoadPlan& plan, std::string& out) {
  out += format("\n  {:<12} {:>12} {:>12} {:>12}\n", "device", "shards", "peak", "limit");
  for (std::size_t d = 0; d < plan.devices.size();) {
    // Devices of the same numbers share a line.
    const DevicePlan& device = plan.devices[d];
    std::size_t end = d + 1;
    while (end < plan.devices.size() && plan.devices[end].bytes == device.bytes &&
           plan.devices[end].peak_bytes == device.peak_bytes && plan.devices[end].local == device.local &&
           plan.devices[end].info.memory_limit == device.info.memory_limit) {
      ++end;
    }
    std::string id = device.info.id;
    if (end - d > 1)
      id += format(" ..{}", plan.devices[end - 1].info.id.substr(plan.devices[end - 1].info.id.rfind(':')));
    const bool over = device.peak_bytes > device.info.memory_limit;
    out += format("  {:<12} {:>12} {:>12} {:>12}{}\n", id, format_bytes(device.bytes), format_bytes(device.peak_bytes),
                  limit_text(device.info.memory_limit),
                  over           ? "  DOES NOT FIT"
                  : device.local ? ""
                                 : "  (elsewhere)");
    d = end;
  }
}

// What the other way needs, and which variable the first device would fail at.
void print_load_then_shard(const LoadPlan& plan, std::string& out) {
  const LoadThenShard& other = plan.load_then_shard;
  out += format("  for comparison, load-then-shard needs {} on device 0", format_bytes(other.device0_peak_bytes));
  if (other.host_peak_bytes != 0) out += format(" and {} on the host", format_bytes(other.host_peak_bytes));
  if (!other.largest.empty()) {
    const std::uint64_t bytes = other.largest_peak_bytes;
    out += format(",\n               {} of it for '{}' alone",
                  bytes < 1_MiB ? format_bytes(bytes) : format("{} MiB", bytes >> 20), printable(other.largest));
  }
  const std::uint64_t limit = plan.devices.front().info.memory_limit;
  if (other.device0_peak_bytes > limit) out += ": it does not fit";
  out += "\n";
}

void print_costs(const LoadPlan& plan, std::string& out) {
  out += format("\n  host         staging {}, peak {} beside the devices\n", format_bytes(plan.host.staging_bytes),
                format_bytes(plan.host.peak_bytes));
  if (plan.reads_total.count != 0 || plan.generated_bytes == 0) {
    out += format("  reads        {} reads of at most {}, {} for {} wanted (over-read {:.3f})\n",
                  plan.reads_total.count, format_bytes(plan.window), format_bytes(plan.reads_total.bytes),
                  format_bytes(plan.reads_total.wanted_bytes), plan.reads_total.over_read());
  }
  if (plan.generated_bytes != 0) {
    const auto made = std::count_if(plan.variables.begin(), plan.variables.end(),
                                    [](const PlannedVariable& v) { return !v.initializer.empty(); });
    out += format("  made         {} variables by their initializers, {} in their shards", made,
                  format_bytes(plan.generated_bytes));
    if (plan.host.whole_bytes != 0)
      out += format("; whole on the host first, at most {}", format_bytes(plan.host.whole_bytes));
    out += "\n";
  }
  print_load_then_shard(plan, out);
}

void print_tensors(const LoadPlan& plan, const PrintOptions& options, std::string& out) {
  std::vector<const PlannedVariable*> rows;
  for (const PlannedVariable& v : plan.variables) rows.push_back(&v);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return a->shard_bytes * a->placement.boxes.size() > b->shard_bytes * b->placement.boxes.size();
  });
  const std::size_t shown = std::min(rows.size(), options.max_tensors);
  if (shown == 0) return;
  out += format("\n  {:<52} {:<9} {:<18} {:<22} {:<18} {:>10} {:>4}\n", "variable", "dtype", "shape", "layout", "shard",
                "bytes", "x");
  for (std::size_t i = 0; i < shown; ++i) {
    const PlannedVariable& v = *rows[i];
    out += format("  {:<52} {:<9} {:<18} {:<22} {:<18} {:>10} {:>4}\n", printable(v.name), to_string(v.dtype),
                  to_string(v.placement.shape), to_string(v.placement.layout), to_string(v.placement.shard_shape),
                  format_bytes(v.shard_bytes), v.placement.replicas());
  }
  if (shown < rows.size()) out += format("  ... and {} smaller ones\n", rows.size() - shown);
}

void print_list(const char* title, const std::vector<std::string>& items, std::string& out) {
  if (items.empty()) return;
  out += format("\n  {}:\n", title);
  for (std::size_t i = 0; i < std::min(items.size(), kListed); ++i) out += format("    {}\n", printable(items[i]));
  if (items.size() > kListed) out += format("    ... and {} more\n", items.size() - kListed);
}

void print_replicated(const LoadPlan& plan, std::string& out) {
  std::uint64_t extra = 0;
  std::vector<std::string> lines;
  for (const ReplicatedVariable& r : plan.replicated) {
    extra += r.extra_bytes;
    lines.push_back(format("{} ({} on each device)", r.name, format_bytes(r.bytes)));
  }
  const std::string title = format("large variables whole on every device, {} more than one copy", format_bytes(extra));
  print_list(title.c_str(), lines, out);
}

}  // namespace

std::string to_string(const LoadPlan& plan, const PrintOptions& options) {
  std::string out;
  print_head(plan, out);
  print_devices(plan, out);
  print_costs(plan, out);
  print_tensors(plan, options, out);
  print_list("layout rules that matched nothing", plan.unmatched_rules, out);
  print_replicated(plan, out);
  print_list("stored tensors that no variable takes", plan.unused_tensors, out);
  print_list("notes", plan.notes, out);
  return out;
}

}  // namespace shardwise
