#include "shardwise/mesh.h"

#include <algorithm>
#include <cassert>
#include <set>

#include "base/checked.h"
#include "base/format.h"
#include "mesh/python_text.h"
#include "shardwise/shape.h"

namespace shardwise {
namespace {

bool product_is(const std::vector<std::int64_t>& shape, std::size_t count) {
  std::int64_t product = 1;
  for (std::int64_t size : shape) {
    const auto next = checked_mul(product, size);
    if (!next) return false;
    product = *next;
  }
  return product >= 0 && static_cast<std::uint64_t>(product) == count;
}

// What Keras does not check: it would fail later, or not at all.
Status check_beyond_keras(const std::vector<std::int64_t>& shape, const std::vector<std::string>& axis_names,
                          std::size_t devices) {
  const std::string received = format("Received: shape={}, axis_names={}", to_string(shape), python_list(axis_names));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 1) {
      return invalid_argument("Mesh axis {} has size {}; sizes must be 1 or more. {}", python_repr(axis_names[i]),
                              shape[i], received);
    }
  }
  std::set<std::string> seen;
  for (const std::string& name : axis_names) {
    if (!seen.insert(name).second) {
      return invalid_argument("Mesh axis name {} is used twice; axis names must differ. {}", python_repr(name),
                              received);
    }
  }
  if (devices > kMaxDevices) {
    return invalid_argument("A mesh of {} devices is over the limit of {}. {}", devices, kMaxDevices, received);
  }
  return {};
}

Status check_mesh(const std::vector<std::int64_t>& shape, const std::vector<std::string>& axis_names,
                  std::size_t devices) {
  if (shape.empty() || axis_names.empty()) {
    return invalid_argument("Shape and axis_names cannot be empty. Received: shape={}, axis_names={}", to_string(shape),
                            python_list(axis_names));
  }
  if (shape.size() != axis_names.size()) {
    return invalid_argument("Shape and axis_names should have same size. Received: shape={}, axis_names={}",
                            to_string(shape), python_list(axis_names));
  }
  if (!product_is(shape, devices)) {
    return invalid_argument("Shape does not match the number of devices. Received: shape={}; devices.shape=({},)",
                            to_string(shape), devices);
  }
  return check_beyond_keras(shape, axis_names, devices);
}

}  // namespace

DeviceList abstract_devices(std::size_t count, std::uint64_t memory_limit) {
  DeviceList devices(std::min(count, kMaxDevices));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].info.id = format("host:{}", i);
    devices[i].info.memory_limit = memory_limit;
  }
  return devices;
}

DeviceMesh::DeviceMesh(std::vector<std::int64_t> shape, std::vector<std::string> axis_names, DeviceList devices)
    : shape_(std::move(shape)),
      axis_names_(std::move(axis_names)),
      devices_(std::move(devices)),
      status_(check_mesh(shape_, axis_names_, devices_.size())) {}

Result<DeviceMesh> DeviceMesh::create(std::vector<std::int64_t> shape, std::vector<std::string> axis_names,
                                      DeviceList devices) {
  DeviceMesh mesh(std::move(shape), std::move(axis_names), std::move(devices));
  if (!mesh.status().ok()) return mesh.status();
  return mesh;
}

int DeviceMesh::axis_index(const std::string& name) const {
  const auto found = std::find(axis_names_.begin(), axis_names_.end(), name);
  return found == axis_names_.end() ? -1 : static_cast<int>(found - axis_names_.begin());
}

std::int64_t DeviceMesh::axis_size(const std::string& name) const {
  const int index = axis_index(name);
  assert(index >= 0);
  return shape_[static_cast<std::size_t>(index)];
}

std::vector<std::int64_t> DeviceMesh::coordinates(std::size_t device) const {
  std::vector<std::int64_t> out(shape_.size());
  auto rest = static_cast<std::int64_t>(device);
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    out[axis] = rest % shape_[axis];
    rest /= shape_[axis];
  }
  return out;
}

std::string DeviceMesh::to_string() const {
  return format("<DeviceMesh shape={}, axis_names={}>", shardwise::to_string(shape_), python_list(axis_names_));
}

}  // namespace shardwise
