// Meshes, layouts, distributions and placements.
#include "convert.h"
#include "shardwise/device.h"
#include "shardwise/layout.h"
#include "shardwise/mesh.h"
#include "shardwise/placement.h"

namespace shardwise::python {
namespace {

using Axes = std::vector<Axis>;
using IntBox = std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>;

MatchDialect to_dialect(const std::string& text) {
  if (text == "fullmatch") return MatchDialect::kFullMatch;
  if (text == "search") return MatchDialect::kSearch;
  raise(invalid_argument("dialect must be 'fullmatch' or 'search', got '" + text + "'"));
}

Uneven to_uneven(const std::string& text) {
  if (text == "refuse") return Uneven::kRefuse;
  if (text == "replicate") return Uneven::kReplicate;
  raise(invalid_argument("uneven must be 'refuse' or 'replicate', got '" + text + "'"));
}

LayoutMapOptions options_of(const std::string& dialect, const std::string& uneven) {
  return {.dialect = to_dialect(dialect), .uneven = to_uneven(uneven)};
}

nb::object limit_of(std::uint64_t limit) { return limit == kUnlimited ? nb::none() : nb::cast(limit); }

nb::object box_of(const Placement& placement, std::size_t device) {
  if (device >= placement.device_box.size()) throw nb::index_error("no such device");
  const std::uint32_t index = placement.device_box[device];
  if (index == Placement::kNoBox) return nb::none();
  const Box& box = placement.boxes[index];
  return nb::make_tuple(to_tuple(box.origin), to_tuple(box.extent));
}

void bind_devices(nb::module_& m) {
  nb::class_<MeshDevice>(m, "Device", "A device of a mesh: what a plan may know of it, and its memory if it has any.")
      .def_prop_rw(
          "id", [](const MeshDevice& d) { return d.info.id; },
          [](MeshDevice& d, std::string id) { d.info.id = std::move(id); }, "Its name in plans and messages.")
      .def_prop_rw(
          "memory_limit", [](const MeshDevice& d) { return limit_of(d.info.memory_limit); },
          [](MeshDevice& d, std::optional<std::uint64_t> limit) { d.info.memory_limit = limit.value_or(kUnlimited); },
          nb::arg().none(), "Bytes that it may hold; None = unlimited.")
      .def_prop_rw(
          "memory_in_use", [](const MeshDevice& d) { return d.info.memory_in_use; },
          [](MeshDevice& d, std::uint64_t bytes) { d.info.memory_in_use = bytes; },
          "Bytes that it held when this was made.")
      .def("__repr__", [](const MeshDevice& d) { return "<Device " + d.info.id + ">"; });
  m.def(
      "host_devices",
      [](std::size_t count, std::optional<std::uint64_t> memory, bool huge_pages) {
        return host_devices(count, {.memory = memory.value_or(kUnlimited), .huge_pages = huge_pages});
      },
      nb::arg("count"), nb::arg("memory") = nb::none(), nb::arg("huge_pages") = true,
      "`count` devices in this process's memory, each limited to `memory` bytes (None = unlimited); blocks are 64-byte "
      "aligned.");
  m.def(
      "abstract_devices",
      [](std::size_t count, std::optional<std::uint64_t> memory) {
        return abstract_devices(count, memory.value_or(kUnlimited));
      },
      nb::arg("count"), nb::arg("memory") = nb::none(), "`count` devices that exist as descriptions: enough to plan.");
}

void bind_layouts(nb::module_& m) {
  nb::class_<DeviceMesh>(m, "DeviceMesh", "A grid of devices, row-major over `shape`, as keras.distribution's.")
      .def(
          "__init__",
          [](DeviceMesh* self, std::vector<std::int64_t> shape, std::vector<std::string> axis_names,
             DeviceList devices) {
            new (self)
                DeviceMesh(take(DeviceMesh::create(std::move(shape), std::move(axis_names), std::move(devices))));
          },
          nb::arg("shape"), nb::arg("axis_names"), nb::arg("devices"),
          "Raises ValueError with Keras's text when sizes and devices do not agree.")
      .def_prop_ro("shape", [](const DeviceMesh& mesh) { return to_tuple(mesh.shape()); })
      .def_prop_ro("axis_names", &DeviceMesh::axis_names)
      .def_prop_ro("devices", &DeviceMesh::devices)
      .def("__repr__", &DeviceMesh::to_string);

  nb::class_<LayoutMap>(m, "LayoutMap", "Rules path pattern -> layout, as keras.distribution.LayoutMap.")
      .def(
          "__init__",
          [](LayoutMap* self, const DeviceMesh& mesh, const std::string& dialect, const std::string& uneven) {
            new (self) LayoutMap(mesh, options_of(dialect, uneven));
          },
          nb::arg("mesh"), nb::arg("dialect") = "fullmatch", nb::arg("uneven") = "refuse",
          "dialect: 'fullmatch' (Keras 3.14 and later) or 'search' (before). uneven: what happens to a dimension that "
          "does not divide: 'refuse' or 'replicate'.")
      .def(
          "__setitem__",
          [](LayoutMap& map, const std::string& key, Axes axes) { map.set(key, TensorLayout(std::move(axes))); },
          nb::arg("key"), nb::arg("axes"), "Problems of all rules are reported together, by the plan.")
      .def(
          "__getitem__",
          [](const LayoutMap& map, const std::string& path) -> nb::object {
            const auto layout = take(map.find(path));
            return layout ? nb::object(to_tuple(*layout)) : nb::none();
          },
          nb::arg("path"), "The layout of `path`, or None. Raises ValueError when several patterns match.")
      .def("__len__", [](const LayoutMap& map) { return map.rules().size(); });

  nb::class_<Distribution>(m, "Distribution", "Which layout each variable gets. Immutable.")
      .def_prop_ro("mesh", &Distribution::mesh)
      .def(
          "variable_layout",
          [](const Distribution& d, const std::string& path, const Shape& shape, const std::string& dtype) {
            return to_tuple(take(d.variable_layout(path, shape, to_dtype(dtype))).layout);
          },
          nb::arg("path"), nb::arg("shape"), nb::arg("dtype") = "float32");
  nb::class_<DataParallel, Distribution>(m, "DataParallel", "Every variable whole on every device.")
      .def(nb::init<DeviceMesh>(), nb::arg("mesh"));
  nb::class_<ModelParallel, Distribution>(m, "ModelParallel", "Variables by the rules of a LayoutMap.")
      .def(nb::init<LayoutMap, std::string>(), nb::arg("layout_map"), nb::arg("batch_dim_name") = "");
  nb::class_<AutoParallel, Distribution>(m, "AutoParallel", "Tensors of `min_bytes` or more are split where they can.")
      .def(nb::init<DeviceMesh, std::uint64_t>(), nb::arg("mesh"), nb::arg("min_bytes") = 1u << 20);
  m.def(
      "builtin_layout",
      [](const std::string& name, const DeviceMesh& mesh) { return take(builtin_layout(name, mesh)); }, nb::arg("name"),
      nb::arg("mesh"), "The layouts of the command: 'gemma', 'llama', 'bert', 'replicated', 'auto'.");
  m.def(
      "parse_layout", [](const std::string& json, const DeviceMesh& mesh) { return take(parse_layout(json, mesh)); },
      nb::arg("json"), nb::arg("mesh"), "A layout file (docs/layouts.md).");
}

}  // namespace

void bind_mesh(nb::module_& m) {
  bind_devices(m);
  bind_layouts(m);
  nb::class_<Placement>(m, "Placement", "Which box of a variable each device of a mesh holds.")
      .def_prop_ro("shape", [](const Placement& p) { return to_tuple(p.shape); })
      .def_prop_ro("shard_shape", [](const Placement& p) { return to_tuple(p.shard_shape); })
      .def_prop_ro("layout", [](const Placement& p) { return to_tuple(p.layout); })
      .def_prop_ro("replicas", &Placement::replicas)
      .def("box", &box_of, nb::arg("device"), "(origin, extent) of the device's part, or None.")
      .def("__repr__", [](const Placement& p) { return to_string(p); });
  m.def(
      "place",
      [](const std::string& path, const Shape& shape, Axes axes, const DeviceMesh& mesh, const std::string& uneven) {
        return take(place(path, shape, TensorLayout(std::move(axes)), mesh, to_uneven(uneven)));
      },
      nb::arg("path"), nb::arg("shape"), nb::arg("axes"), nb::arg("mesh"), nb::arg("uneven") = "refuse",
      "The boxes of `shape` under a layout. Raises ValueError naming dimension, axis and numbers.");
  m.def(
      "place_boxes",
      [](const std::string& path, const Shape& shape, const std::vector<std::optional<IntBox>>& boxes, Axes axes) {
        std::vector<std::optional<Box>> given;
        for (const auto& box : boxes) {
          given.push_back(box ? std::optional<Box>(Box{box->first, box->second}) : std::nullopt);
        }
        return take(place_boxes(path, shape, given, TensorLayout(std::move(axes))));
      },
      nb::arg("path"), nb::arg("shape"), nb::arg("boxes"), nb::arg("axes") = Axes(),
      "The placement whose device k holds boxes[k] = (origin, extent), or nothing where that is None.");
}

}  // namespace shardwise::python
