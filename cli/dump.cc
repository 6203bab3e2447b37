#include "cli/dump.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/format.h"
#include "cli/json.h"

namespace shardwise::cli {
namespace {

constexpr const char* kMetadata = "__metadata__";

// One file being written, removed unless it was renamed to its final name.
class PartialFile {
 public:
  PartialFile(std::string temporary, std::string target)
      : temporary_(std::move(temporary)), target_(std::move(target)) {}
  PartialFile(PartialFile&& other) noexcept
      : temporary_(std::move(other.temporary_)),
        target_(std::move(other.target_)),
        descriptor_(std::exchange(other.descriptor_, -1)) {}
  ~PartialFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
  }

  Status create(std::uint64_t size) {
    ::unlink(temporary_.c_str());
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor_ < 0) return failure("create");
    if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return failure("size");
    return {};
  }
  Status write(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return failure("write");
      offset += static_cast<std::uint64_t>(written);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
  }
  Status publish() {
    if (::close(std::exchange(descriptor_, -1)) != 0 || ::rename(temporary_.c_str(), target_.c_str()) != 0) {
      const Status status = failure("finish");
      ::unlink(temporary_.c_str());
      return status;
    }
    return {};
  }

 private:
  Status failure(const char* what) const {
    const int error = errno;
    const auto text = format("cannot {} {}: {}", what, target_, std::strerror(error));
    return error == EACCES || error == EPERM ? permission_denied(text) : unavailable(text);
  }

  std::string temporary_;
  std::string target_;
  int descriptor_ = -1;
};

// safetensors' name of a dtype; empty when it has none.
std::string_view safetensors_name(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "BOOL";
    case DType::kInt8:
      return "I8";
    case DType::kInt16:
      return "I16";
    case DType::kInt32:
      return "I32";
    case DType::kInt64:
      return "I64";
    case DType::kUint8:
      return "U8";
    case DType::kUint16:
      return "U16";
    case DType::kUint32:
      return "U32";
    case DType::kUint64:
      return "U64";
    case DType::kFloat16:
      return "F16";
    case DType::kBfloat16:
      return "BF16";
    case DType::kFloat32:
      return "F32";
    case DType::kFloat64:
      return "F64";
    case DType::kComplex64:
      return "C64";
    case DType::kFloat8E4m3fn:
      return "F8_E4M3";
    case DType::kFloat8E5m2:
      return "F8_E5M2";
    case DType::kFloat8E4m3fnuz:
      return "F8_E4M3FNUZ";
    case DType::kFloat8E5m2fnuz:
      return "F8_E5M2FNUZ";
    case DType::kFloat8E8m0fnu:
      return "F8_E8M0";
    case DType::kFloat4E2m1fn:
      return "F4";
    case DType::kFloat6E2m3fn:
      return "F6_E2M3";
    case DType::kFloat6E3m2fn:
      return "F6_E3M2";
    default:
      return {};
  }
}

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

Json metadata_json(const LoadPlan& plan, std::size_t device) {
  Json shards = Json::object();
  for (const PlannedVariable& variable : plan.variables) shards[variable.name] = shard_json(variable, device);
  return {{"device", plan.devices[device].info.id},
          {"mesh", plan.mesh.to_string()},
          {"coordinates", format("{}", fmt::join(plan.mesh.coordinates(device), ","))},
          {"shards", dump(shards)}};
}

// Header of a device's file: 8 bytes of length, then JSON padded with blanks to a multiple of 8.
std::string header(const LoadPlan& plan, std::size_t device, const std::vector<std::uint64_t>& offsets) {
  Json tensors = {{kMetadata, metadata_json(plan, device)}};
  for (std::size_t v = 0; v < plan.variables.size(); ++v) {
    const PlannedVariable& variable = plan.variables[v];
    tensors[variable.name] = {{"dtype", safetensors_name(variable.dtype)},
                              {"shape", variable.placement.shard_shape},
                              {"data_offsets", {offsets[v], offsets[v] + variable.shard_bytes}}};
  }
  std::string text = tensors.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize(round_up(text.size(), 8), ' ');
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i));
  return length + text;
}

// Offsets of the shards in a device's data, wide elements first, so that every element is aligned; and their sum.
// Shards are even: all devices have the same.
std::pair<std::vector<std::uint64_t>, std::uint64_t> place_shards(const LoadPlan& plan) {
  std::vector<std::size_t> order(plan.variables.size());
  for (std::size_t v = 0; v < order.size(); ++v) order[v] = v;
  std::stable_sort(order.begin(), order.end(), [&plan](std::size_t a, std::size_t b) {
    return bit_width(plan.variables[a].dtype) > bit_width(plan.variables[b].dtype);
  });
  std::vector<std::uint64_t> offsets(order.size());
  std::uint64_t end = 0;
  for (const std::size_t v : order) {
    offsets[v] = end;
    end += plan.variables[v].shard_bytes;
  }
  return {std::move(offsets), end};
}

// safetensors headers are JSON: names are UTF-8, and one of them is taken.
Status check_name(const std::string& name) {
  try {
    static_cast<void>(Json(name).dump());
  } catch (const Json::exception&) {
    return unimplemented("--dump: the tensor name '{}' is not UTF-8; leave it out with --select", printable(name));
  }
  if (name != kMetadata) return {};
  return unimplemented("--dump: no tensor of a safetensors file may be called {}; leave it out with --select", name);
}

Status check_tensors(const LoadPlan& plan) {
  for (const PlannedVariable& variable : plan.variables) {
    SHARDWISE_RETURN_IF_ERROR(check_name(variable.name));
    if (!safetensors_name(variable.dtype).empty()) continue;
    return unimplemented("--dump: tensor '{}' is {}, which safetensors files cannot hold; leave it out with --select",
                         printable(variable.name), to_string(variable.dtype));
  }
  return {};
}

}  // namespace

struct Dump::State {
  struct Target {
    std::size_t device = 0;
    std::uint64_t data_begin = 0;
    PartialFile file;
  };
  std::vector<Target> targets;
  std::vector<std::uint64_t> offsets;  // per variable, from the begin of the data
  std::unordered_map<std::string, std::size_t> variables;
};

Dump::Dump(std::unique_ptr<State> state) : state_(std::move(state)) {}
Dump::~Dump() = default;

Result<std::unique_ptr<Dump>> Dump::create(const std::string& folder, const LoadPlan& plan) {
  SHARDWISE_RETURN_IF_ERROR(check_tensors(plan));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return unavailable("--dump {}: {}", folder, error.message());

  auto state = std::make_unique<State>();
  std::uint64_t data_bytes = 0;
  std::tie(state->offsets, data_bytes) = place_shards(plan);
  for (std::size_t v = 0; v < plan.variables.size(); ++v) state->variables.emplace(plan.variables[v].name, v);
  for (std::size_t device = 0; device < plan.devices.size(); ++device) {
    if (!plan.devices[device].local) continue;
    const std::string path = format("{}/device-{}.safetensors", folder, device);
    const std::string text = header(plan, device, state->offsets);
    PartialFile file(format("{}.{}.partial", path, ::getpid()), path);
    SHARDWISE_RETURN_IF_ERROR(file.create(text.size() + data_bytes));
    SHARDWISE_RETURN_IF_ERROR(file.write(0, std::as_bytes(std::span(text))));
    state->targets.push_back({device, text.size(), std::move(file)});
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
    const std::uint64_t offset = target.data_begin + state_->offsets[variable->second];
    SHARDWISE_RETURN_IF_ERROR(target.file.write(offset, {buffer->host_data(), buffer->size()}));
  }
  return {};
}

Status Dump::finish() {
  for (State::Target& target : state_->targets) SHARDWISE_RETURN_IF_ERROR(target.file.publish());
  return {};
}

}  // namespace shardwise::cli
