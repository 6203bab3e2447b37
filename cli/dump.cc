#include "cli/dump.h"

#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/format.h"
#include "cli/json.h"
#include "shardwise/safetensors_writer.h"

namespace shardwise::cli {
namespace {

Json layout_json(const TensorLayout& layout) {
  Json axes = Json::array();
  for (const Axis& axis : layout.axes) axes.push_back(axis ? Json(*axis) : Json());
  return axes;
}

Json shard_json(const PlannedVariable& variable, std::size_t device) {
  const Box& box = variable.placement.boxes[variable.placement.device_box[device]];
  return {{"dtype", to_string(variable.dtype)},
          {"shape", variable.placement.shape},
          {"layout", layout_json(variable.placement.layout)},
          {"origin", box.origin},
          {"extent", box.extent}};
}

std::map<std::string, std::string> metadata(const LoadPlan& plan, std::size_t device) {
  Json shards = Json::object();
  for (const PlannedVariable& variable : plan.variables) shards[variable.name] = shard_json(variable, device);
  return {{"device", plan.devices[device].info.id},
          {"mesh", plan.mesh.to_string()},
          {"coordinates", format("{}", fmt::join(plan.mesh.coordinates(device), ","))},
          {"shards", dump(shards)}};
}

}  // namespace

struct Dump::State {
  struct Target {
    std::size_t device = 0;
    std::unique_ptr<SafetensorsWriter> file;
  };
  std::vector<Target> targets;
  std::unordered_map<std::string, std::size_t> variables;
};

Dump::Dump(std::unique_ptr<State> state) : state_(std::move(state)) {}
Dump::~Dump() = default;

Result<std::unique_ptr<Dump>> Dump::create(const std::string& folder, const LoadPlan& plan) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return unavailable("--dump {}: {}", folder, error.message());

  auto state = std::make_unique<State>();
  std::vector<TensorToWrite> tensors;
  for (const PlannedVariable& variable : plan.variables) {
    state->variables.emplace(variable.name, tensors.size());
    tensors.push_back({variable.name, variable.dtype, variable.placement.shard_shape});
  }
  for (std::size_t device = 0; device < plan.devices.size(); ++device) {
    if (!plan.devices[device].local) continue;
    auto file =
        SafetensorsWriter::create(format("{}/device-{}.safetensors", folder, device), tensors, metadata(plan, device));
    if (!file.ok() && file.status().code() == Code::kUnimplemented) {
      return unimplemented("--dump: {}; leave it out with --select", file.status().message());
    }
    if (!file.ok()) return file.status();
    state->targets.push_back({device, std::move(file).value()});
  }
  return std::unique_ptr<Dump>(new Dump(std::move(state)));
}

Status Dump::add(const ShardedArray& array) {
  const auto variable = state_->variables.find(array.name());
  if (variable == state_->variables.end()) return internal_error("--dump: unplanned array '{}'", array.name());
  for (State::Target& target : state_->targets) {
    const auto& buffer = array.buffers()[target.device];
    if (buffer == nullptr || (buffer->size() > 0 && buffer->host_data() == nullptr)) {
      return internal_error("--dump: no bytes of '{}' on device {}", array.name(), target.device);
    }
    const SafetensorsWriter::Part whole{Box::whole(array.placement().shard_shape),
                                        {buffer->host_data(), buffer->size()}};
    SHARDWISE_RETURN_IF_ERROR(target.file->write(variable->second, {&whole, 1}));
  }
  return {};
}

Status Dump::finish() {
  for (State::Target& target : state_->targets) SHARDWISE_RETURN_IF_ERROR(target.file->finish());
  return {};
}

}  // namespace shardwise::cli
