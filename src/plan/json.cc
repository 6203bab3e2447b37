#include <nlohmann/json.hpp>

#include "shardwise/plan.h"

namespace shardwise {
namespace {

using Json = nlohmann::ordered_json;

Json axes_json(const TensorLayout& layout) {
  Json axes = Json::array();
  for (const Axis& axis : layout.axes) axes.push_back(axis ? Json(*axis) : Json(nullptr));
  return axes;
}

Json devices_json(const LoadPlan& plan) {
  Json devices = Json::array();
  for (const DevicePlan& device : plan.devices) {
    const std::uint64_t limit = device.info.memory_limit;
    devices.push_back({{"id", device.info.id},
                       {"bytes", device.bytes},
                       {"peak_bytes", device.peak_bytes},
                       {"limit_bytes", limit == kUnlimited ? Json(nullptr) : Json(limit)}});
    if (!device.local) devices.back()["local"] = false;
  }
  return devices;
}

Json tensors_json(const LoadPlan& plan) {
  Json tensors = Json::array();
  for (const PlannedVariable& variable : plan.variables) {
    const Placement& placement = variable.placement;
    Json row = {{"name", variable.name},
                {"dtype", to_string(variable.dtype)},
                {"shape", placement.shape},
                {"layout", axes_json(placement.layout)},
                {"shard_shape", placement.shard_shape},
                {"shard_bytes", variable.shard_bytes},
                {"replicas", placement.replicas()}};
    if (variable.tensor != variable.name) row["tensor"] = variable.tensor;
    if (variable.dtype != variable.stored_dtype) row["stored_dtype"] = to_string(variable.stored_dtype);
    if (!variable.view.empty()) row["view"] = variable.view;
    if (!variable.initializer.empty()) row["initializer"] = variable.initializer;
    tensors.push_back(std::move(row));
  }
  return tensors;
}

Json mesh_json(const DeviceMesh& mesh) { return {{"shape", mesh.shape()}, {"axis_names", mesh.axis_names()}}; }

}  // namespace

std::string to_json(const LoadPlan& plan) {
  Json replicated = Json::array();
  for (const ReplicatedVariable& r : plan.replicated) {
    replicated.push_back({{"name", r.name}, {"bytes", r.bytes}, {"extra_bytes", r.extra_bytes}});
  }
  const Json out = {
      {"path", plan.path},
      {"format", plan.format},
      {"mesh", mesh_json(plan.mesh)},
      {"devices", devices_json(plan)},
      {"host",
       {{"staging_bytes", plan.host.staging_bytes},
        {"metadata_bytes", plan.host.metadata_bytes},
        {"peak_bytes", plan.host.peak_bytes}}},
      {"reads",
       {{"count", plan.reads_total.count},
        {"bytes", plan.reads_total.bytes},
        {"wanted_bytes", plan.reads_total.wanted_bytes},
        {"over_read", plan.reads_total.over_read()},
        {"window_bytes", plan.window}}},
      {"generated", {{"bytes", plan.generated_bytes}, {"whole_bytes", plan.host.whole_bytes}}},
      {"tensors", tensors_json(plan)},
      {"unmatched_rules", plan.unmatched_rules},
      {"replicated", std::move(replicated)},
      {"unused_tensors", plan.unused_tensors},
      {"notes", plan.notes},
      {"load_then_shard",
       {{"device0_peak_bytes", plan.load_then_shard.device0_peak_bytes},
        {"host_peak_bytes", plan.load_then_shard.host_peak_bytes},
        {"largest", plan.load_then_shard.largest},
        {"largest_peak_bytes", plan.load_then_shard.largest_peak_bytes}}},
  };
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace shardwise
