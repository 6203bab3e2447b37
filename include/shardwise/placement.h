// Placement: which box of a variable each device of a mesh holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shardwise/layout.h"
#include "shardwise/mesh.h"
#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise {

// The boxes of one variable. Devices with equal boxes are replicas: `boxes` holds each distinct box once.
// Plain data; independent of the mesh it came from.
struct Placement {
  // In device_box: the device holds no part of the variable.
  static constexpr std::uint32_t kNoBox = 0xffffffffu;

  Shape shape;
  Shape shard_shape;                      // extent of every box (shards are even)
  TensorLayout layout;                    // as applied: one entry per dimension, after Uneven::kReplicate
  std::vector<Box> boxes;                 // distinct, ordered by the first device that holds each
  std::vector<std::uint32_t> device_box;  // index into boxes for each device of the mesh, or kNoBox
  std::vector<std::string> notes;         // what Uneven::kReplicate left whole, and why

  // Devices that hold the first box; place() gives every box as many.
  std::size_t replicas() const;
  friend bool operator==(const Placement&, const Placement&) = default;
};

// Boxes of `shape` under `layout`. Shard of device d: d's coordinate on the axis of each split dimension; several
// devices that differ only in unused axes are replicas.
//
// A dimension may be split by one axis. ("a+b" in AutoParallel's layouts splits one dimension by several axes,
// outermost first, as JAX's PartitionSpec does with a tuple.) Errors, all of one variable together, each naming `path`,
// dimension, axis, numbers and what would divide: INVALID_ARGUMENT for a layout longer than the rank, an axis used
// twice, an unknown axis, an indivisible dimension (unless Uneven::kReplicate).
Result<Placement> place(const std::string& path, const Shape& shape, const TensorLayout& layout, const DeviceMesh& mesh,
                        Uneven uneven = Uneven::kRefuse);

// The placement whose device k holds `device_boxes[k]`, or no part where that is nullopt: for meshes of other systems,
// whose arrays may lie on some of the devices only, and in any order. `layout` is what reports print. Errors, naming
// `path`: INVALID_ARGUMENT for boxes outside the shape or of different extents, and when no device holds a part.
Result<Placement> place_boxes(const std::string& path, const Shape& shape,
                              const std::vector<std::optional<Box>>& device_boxes, TensorLayout layout = {});

// "(30522, 384) ('None', 'model') -> 4 boxes of (30522, 96) x 2 replicas", then one line per box with its devices.
std::string to_string(const Placement& placement);

}  // namespace shardwise
