#include "shardwise/placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "base/format.h"
#include "mesh/axes.h"
#include "mesh/indivisible.h"
#include "mesh/python_text.h"

namespace shardwise {
namespace {

// A dimension cut into `parts` equal pieces along mesh axes, outermost first.
struct Split {
  std::size_t dimension = 0;
  std::int64_t parts = 1;
  std::vector<std::size_t> axes;
};

// Reads a layout for one shape; keeps every problem.
class Splitter {
 public:
  Splitter(const Shape& shape, const DeviceMesh& mesh, Uneven uneven)
      : shape_(shape), mesh_(mesh), uneven_(uneven), used_by_(mesh.shape().size(), -1) {}

  void read(const TensorLayout& layout) {
    layout_.axes.resize(shape_.size());
    if (layout.axes.size() > shape_.size()) {
      problems_.push_back(
          format("the layout is only valid for values of rank at least {}, but was applied to a value "
                 "of rank {}",
                 layout.axes.size(), shape_.size()));
    }
    for (std::size_t d = 0; d < layout.axes.size(); ++d) {
      if (layout.axes[d]) read_entry(d, *layout.axes[d]);
    }
  }

  const std::vector<Split>& splits() const { return splits_; }
  const std::vector<std::string>& problems() const { return problems_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const TensorLayout& applied() const { return layout_; }

 private:
  void read_entry(std::size_t d, const std::string& entry) {
    const auto axes = find_axes(entry, mesh_);
    if (!axes) {
      problems_.push_back(format("mesh axis {} of dimension {} is not found in the mesh, whose axes are {}",
                                 python_repr(entry), d, python_list(mesh_.axis_names())));
      return;
    }
    std::int64_t parts = 1;
    bool distinct = true;
    for (std::size_t axis : *axes) {
      if (use(axis, d)) {
        parts *= mesh_.shape()[axis];
      } else {
        distinct = false;
      }
    }
    if (!distinct || d >= shape_.size()) return;
    if (shape_[d] % parts != 0) return indivisible(d, entry, parts);
    layout_.axes[d] = entry;
    if (parts > 1) splits_.push_back({d, parts, *axes});
  }

  bool use(std::size_t axis, std::size_t d) {
    const auto dimension = static_cast<int>(d);
    if (used_by_[axis] >= 0) {
      problems_.push_back(
          format("mesh axis {} is used for dimension {} and again for dimension {}; an axis can split "
                 "one dimension",
                 python_repr(mesh_.axis_names()[axis]), used_by_[axis], dimension));
      return false;
    }
    used_by_[axis] = dimension;
    return true;
  }

  void indivisible(std::size_t d, const std::string& entry, std::int64_t parts) {
    const IndivisibleDimension found{d, shape_[d], parts, entry};
    if (uneven_ == Uneven::kReplicate) {
      notes_.push_back(stays_whole_text(found));
    } else {
      problems_.push_back(indivisible_text(found, shape_));
    }
  }

  const Shape& shape_;
  const DeviceMesh& mesh_;
  Uneven uneven_;
  std::vector<int> used_by_;  // dimension that uses each mesh axis, or -1
  std::vector<Split> splits_;
  TensorLayout layout_;
  std::vector<std::string> problems_;
  std::vector<std::string> notes_;
};

// Devices between two neighbours along each axis of the row-major grid.
std::vector<std::int64_t> axis_strides(const std::vector<std::int64_t>& mesh_shape) {
  std::vector<std::int64_t> strides(mesh_shape.size(), 1);
  for (std::size_t axis = mesh_shape.size() - 1; axis > 0; --axis) {
    strides[axis - 1] = strides[axis] * mesh_shape[axis];
  }
  return strides;
}

// Fills boxes and device_box. A dimension of extent 0 has equal boxes everywhere, so it tells none apart.
void fill_boxes(const std::vector<Split>& splits, const DeviceMesh& mesh, Placement& out) {
  const auto strides = axis_strides(mesh.shape());
  std::int64_t kinds = 1;
  for (const Split& split : splits) kinds *= out.shape[split.dimension] == 0 ? 1 : split.parts;
  constexpr std::uint32_t kUnseen = 0xffffffffu;
  std::vector<std::uint32_t> seen(static_cast<std::size_t>(kinds), kUnseen);
  out.boxes.reserve(seen.size());
  out.device_box.reserve(mesh.size());
  Box box{std::vector<std::int64_t>(out.shape.size(), 0), out.shard_shape};
  for (std::size_t device = 0; device < mesh.size(); ++device) {
    std::int64_t key = 0;
    for (const Split& split : splits) {
      if (out.shape[split.dimension] == 0) continue;
      std::int64_t part = 0;
      for (std::size_t axis : split.axes) {
        part = part * mesh.shape()[axis] + static_cast<std::int64_t>(device) / strides[axis] % mesh.shape()[axis];
      }
      box.origin[split.dimension] = part * out.shard_shape[split.dimension];
      key = key * split.parts + part;
    }
    std::uint32_t& index = seen[static_cast<std::size_t>(key)];
    if (index == kUnseen) {
      index = static_cast<std::uint32_t>(out.boxes.size());
      out.boxes.push_back(box);
    }
    out.device_box.push_back(index);
  }
}

}  // namespace

Result<Placement> place(const std::string& path, const Shape& shape, const TensorLayout& layout, const DeviceMesh& mesh,
                        Uneven uneven) {
  SHARDWISE_RETURN_IF_ERROR(mesh.status());
  if (const auto elements = element_count(shape); !elements.ok()) {
    return elements.status().with_context(format("Variable '{}'", printable(path)));
  }
  Splitter splitter(shape, mesh, uneven);
  splitter.read(layout);
  if (!splitter.problems().empty()) {
    return invalid_argument("Variable '{}' of shape {} cannot have layout {} on {}: {}", printable(path),
                            to_string(shape), to_string(layout), mesh.to_string(),
                            fmt::join(splitter.problems(), "; "));
  }
  Placement out;
  out.shape = out.shard_shape = shape;
  out.layout = splitter.applied();
  for (const std::string& note : splitter.notes()) out.notes.push_back(format("'{}': {}", printable(path), note));
  for (const Split& split : splitter.splits()) out.shard_shape[split.dimension] /= split.parts;
  fill_boxes(splitter.splits(), mesh, out);
  return out;
}

Result<Placement> place_boxes(const std::string& path, const Shape& shape,
                              const std::vector<std::optional<Box>>& device_boxes, TensorLayout layout) {
  if (const auto elements = element_count(shape); !elements.ok()) {
    return elements.status().with_context(format("Variable '{}'", printable(path)));
  }
  Placement out;
  out.shape = shape;
  out.layout = std::move(layout);
  out.layout.axes.resize(std::max(out.layout.axes.size(), shape.size()));
  std::map<std::vector<std::int64_t>, std::uint32_t> seen;  // by origin: extents are equal
  for (std::size_t device = 0; device < device_boxes.size(); ++device) {
    const std::optional<Box>& box = device_boxes[device];
    if (!box) {
      out.device_box.push_back(Placement::kNoBox);
      continue;
    }
    if (!fits(*box, shape)) {
      return invalid_argument("Variable '{}' of shape {}: device {} cannot hold {}", printable(path), to_string(shape),
                              device, to_string(*box));
    }
    if (out.boxes.empty()) out.shard_shape = box->extent;
    if (box->extent != out.shard_shape) {
      return invalid_argument("Variable '{}' of shape {}: device {} would hold {} elements and others {}",
                              printable(path), to_string(shape), device, to_string(box->extent),
                              to_string(out.shard_shape));
    }
    const auto [at, is_new] = seen.emplace(box->origin, static_cast<std::uint32_t>(out.boxes.size()));
    if (is_new) out.boxes.push_back(*box);
    out.device_box.push_back(at->second);
  }
  if (out.boxes.empty()) return invalid_argument("Variable '{}': no device holds a part of it", printable(path));
  return out;
}

std::size_t Placement::replicas() const {
  return static_cast<std::size_t>(std::count(device_box.begin(), device_box.end(), 0u));
}

std::string to_string(const Placement& placement) {
  constexpr std::size_t kMostBoxes = 64;
  std::string out =
      format("{} {} -> {} {} of {} x {} {}", to_string(placement.shape), to_string(placement.layout),
             placement.boxes.size(), placement.boxes.size() == 1 ? "box" : "boxes", to_string(placement.shard_shape),
             placement.replicas(), placement.replicas() == 1 ? "replica" : "replicas");
  for (std::size_t i = 0; i < placement.boxes.size(); ++i) {
    if (i == kMostBoxes) return out + format("\n  ... and {} more", placement.boxes.size() - i);
    std::vector<std::size_t> devices;
    for (std::size_t d = 0; d < placement.device_box.size(); ++d) {
      if (placement.device_box[d] == i) devices.push_back(d);
    }
    out += format("\n  {} on {} {}", to_string(placement.boxes[i]), devices.size() == 1 ? "device" : "devices",
                  fmt::join(devices, ", "));
  }
  return out;
}

}  // namespace shardwise
