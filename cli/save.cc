#include "cli/save.h"

#include <algorithm>
#include <vector>

#include "base/format.h"

namespace shardwise::cli {

Result<std::unique_ptr<Save>> Save::create(const std::string& path, const LoadPlan& plan) {
  if (std::any_of(plan.devices.begin(), plan.devices.end(), [](const DevicePlan& d) { return !d.local; })) {
    return invalid_argument("--save {}: --only-devices leaves shards out that the file needs", path);
  }
  std::vector<TensorToWrite> tensors;
  std::map<std::string, std::size_t> numbers;
  for (const PlannedVariable& variable : plan.variables) {
    numbers.emplace(variable.name, tensors.size());
    tensors.push_back({variable.name, variable.dtype, variable.placement.shape});
  }
  SHARDWISE_ASSIGN_OR_RETURN(auto writer, SafetensorsWriter::create(path, std::move(tensors)));
  auto save = std::unique_ptr<Save>(new Save(std::move(writer)));
  save->numbers_ = std::move(numbers);
  return save;
}

Status Save::add(const ShardedArray& array) {
  const auto number = numbers_.find(array.name());
  if (number == numbers_.end()) return internal_error("--save: unplanned array '{}'", array.name());
  const Placement& placement = array.placement();
  std::vector<SafetensorsWriter::Part> parts(placement.boxes.size());
  for (std::size_t d = 0; d < placement.device_box.size(); ++d) {
    const auto& buffer = array.buffers()[d];
    if (buffer == nullptr || (buffer->size() > 0 && buffer->host_data() == nullptr)) {
      return internal_error("--save: no bytes of '{}' on device {}", array.name(), d);
    }
    parts[placement.device_box[d]] = {array.box(d), {buffer->host_data(), buffer->size()}};
  }
  return writer_->write(number->second, parts);
}

}  // namespace shardwise::cli
