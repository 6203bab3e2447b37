// DeviceMesh: devices on a grid with named axes, as keras.distribution.DeviceMesh.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "shardwise/status.h"

namespace shardwise {

class Device;  // device.h; a mesh only carries them

// Meshes of more devices are refused.
inline constexpr std::size_t kMaxDevices = 65536;

inline constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// What the planner may know of a device.
struct DeviceInfo {
  std::string id;                           // "host:3"
  std::uint64_t memory_limit = kUnlimited;  // bytes it may hold
  std::uint64_t memory_in_use = 0;          // bytes held when the mesh was made
  std::uint64_t alignment = 64;             // its allocator rounds every allocation up to a multiple of this
};

// A device of a mesh; `device` is null in a mesh made for planning alone.
struct MeshDevice {
  DeviceInfo info;
  std::shared_ptr<Device> device;
};
using DeviceList = std::vector<MeshDevice>;

// N devices "host:0".. that exist as descriptions only, each limited to `memory_limit` bytes: enough to plan.
// At most kMaxDevices are made.
DeviceList abstract_devices(std::size_t count, std::uint64_t memory_limit = kUnlimited);

// A grid of devices, row-major over `shape`. Immutable; copies share the device objects.
//
// A constructor cannot return a Status, so a mesh that Keras would refuse carries the error (with Keras's text) in
// status(), and everything that is handed such a mesh returns it. create() returns it at once. Beyond Keras, sizes
// below 1, two axes of one name and more than kMaxDevices devices are refused.
class DeviceMesh {
 public:
  DeviceMesh(std::vector<std::int64_t> shape, std::vector<std::string> axis_names, DeviceList devices);
  static Result<DeviceMesh> create(std::vector<std::int64_t> shape, std::vector<std::string> axis_names,
                                   DeviceList devices);

  const Status& status() const { return status_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  const std::vector<std::string>& axis_names() const { return axis_names_; }
  const DeviceList& devices() const { return devices_; }
  std::size_t size() const { return devices_.size(); }

  // Position of the axis in axis_names(), or -1.
  int axis_index(const std::string& name) const;
  // Devices along the axis. Precondition: the axis exists.
  std::int64_t axis_size(const std::string& name) const;
  // Coordinates of device number `device` on the grid, one per axis.
  std::vector<std::int64_t> coordinates(std::size_t device) const;

  // "<DeviceMesh shape=(2, 4), axis_names=['data', 'model']>", as Keras prints it.
  std::string to_string() const;

 private:
  std::vector<std::int64_t> shape_;
  std::vector<std::string> axis_names_;
  DeviceList devices_;
  Status status_;
};

// Reads "batch=2,model=4" (axis=size, comma separated; blanks around either are ignored). Names are letters, digits,
// "_",
// "-" and "."; sizes are 1 or more, their product at most kMaxDevices.
// Errors: INVALID_ARGUMENT with an example of what is expected.
struct MeshSpec {
  std::vector<std::int64_t> shape;
  std::vector<std::string> axis_names;
  std::int64_t size() const;
};
Result<MeshSpec> parse_mesh(const std::string& text);

}  // namespace shardwise
