#include "cli/value_check.h"

#include <cstring>

#include "base/format.h"

namespace shardwise::cli {
namespace {

// Device numbers whose buffers differ from the first buffer of the same box.
std::vector<std::size_t> unequal_replicas(const ShardedArray& array) {
  std::vector<std::size_t> unequal;
  std::vector<const Buffer*> first(array.placement().boxes.size(), nullptr);
  for (std::size_t device = 0; device < array.buffers().size(); ++device) {
    const Buffer* buffer = array.buffers()[device].get();
    if (buffer == nullptr) continue;
    const Buffer*& other = first[array.placement().device_box[device]];
    if (other == nullptr) {
      other = buffer;
    } else if (buffer->size() != other->size() ||
               (buffer->size() > 0 && std::memcmp(buffer->host_data(), other->host_data(), buffer->size()) != 0)) {
      unequal.push_back(device);
    }
  }
  return unequal;
}

// Why the array's values cannot be compared with the stored tensor's; empty when they can.
std::string obstacle(const PlannedVariable& variable, bool has_stored, bool has_loaded) {
  if (variable.dtype != variable.stored_dtype) {
    return format("cast from {} to {}", to_string(variable.stored_dtype), to_string(variable.dtype));
  }
  if (!variable.view.empty()) return "seen through a view";
  if (!has_stored || !has_loaded) return "only a part of it was loaded";
  return {};
}

}  // namespace

Status ValueCheck::add(const ShardedArray& array) {
  for (const std::size_t device : unequal_replicas(array)) {
    unequal_replicas_.push_back(format("{}: device {} differs from its replica", printable(array.name()), device));
  }
  // An array with boxes that no local device holds has no fingerprint: compare() reports it as unchecked.
  if (const auto value = fingerprint(array); value.ok()) fingerprints_.emplace(array.name(), *value);
  return {};
}

ValueCheck::Report ValueCheck::compare(const LoadPlan& plan, const Loaded& loaded) const {
  std::map<std::string, std::optional<Fingerprint>> stored;
  for (std::size_t t = 0; t < plan.tensors.size(); ++t) stored.emplace(plan.tensors[t].name, loaded.fingerprints[t]);
  Report report;
  report.wrong = unequal_replicas_;
  for (const PlannedVariable& variable : plan.variables) {
    const auto in_file = stored.find(variable.tensor);
    const bool has_stored = in_file != stored.end() && in_file->second.has_value();
    const auto in_shards = fingerprints_.find(variable.name);
    const auto why = obstacle(variable, has_stored, in_shards != fingerprints_.end());
    if (!why.empty()) {
      report.unchecked.push_back(format("{}: {}", printable(variable.name), why));
    } else if (in_shards->second == *in_file->second) {
      ++report.checked;
    } else {
      report.wrong.push_back(format("{}: its shards have fingerprint {}, the file {}", printable(variable.name),
                                    to_string(in_shards->second), to_string(*in_file->second)));
    }
  }
  return report;
}

}  // namespace shardwise::cli
