// ShardedArray: one variable, spread over the devices of a mesh.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "shardwise/device.h"
#include "shardwise/dtype.h"
#include "shardwise/fingerprint.h"
#include "shardwise/placement.h"
#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise {

// Immutable; copies share ownership of the buffers. Buffer k holds the box placement().boxes[placement().device_box[k]]
// in row-major order. Devices outside LoadPlan::local_devices have no buffer (nullptr).
class ShardedArray {
 public:
  ShardedArray(std::string name, DType dtype, Placement placement, std::vector<std::shared_ptr<const Buffer>> buffers)
      : name_(std::move(name)), dtype_(dtype), placement_(std::move(placement)), buffers_(std::move(buffers)) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return placement_.shape; }
  const Placement& placement() const { return placement_; }
  const std::vector<std::shared_ptr<const Buffer>>& buffers() const { return buffers_; }
  const Box& box(std::size_t device) const { return placement_.boxes[placement_.device_box[device]]; }

 private:
  std::string name_;
  DType dtype_;
  Placement placement_;
  std::vector<std::shared_ptr<const Buffer>> buffers_;
};

}  // namespace shardwise
