// Checkpoints and views of their tensors.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>

#include "convert.h"
#include "shardwise/checkpoint.h"
#include "shardwise/view.h"

namespace shardwise::python {

void bind_checkpoint(nb::module_& m) {
  nb::class_<TensorInfo>(m, "TensorInfo", "Name, dtype and shape of one stored tensor.")
      .def_ro("name", &TensorInfo::name)
      .def_prop_ro("dtype", [](const TensorInfo& t) { return to_string(t.dtype); })
      .def_prop_ro("shape", [](const TensorInfo& t) { return to_tuple(t.shape); })
      .def_prop_ro("nbytes", &TensorInfo::bytes, "Bytes when loaded dense.")
      .def("__repr__", [](const TensorInfo& t) {
        return "<TensorInfo '" + t.name + "' " + std::string(to_string(t.dtype)) + " " + to_string(t.shape) + ">";
      });
  nb::class_<Catalog>(m, "Catalog", "What a checkpoint holds and where its bytes lie. Immutable; reads nothing.")
      .def(nb::init<>(), "An empty one: for plans whose values are all made.")
      .def_ro("format", &Catalog::format,
              "'safetensors', 'safetensors-index', 'keras-h5', 'keras-json', 'keras', 'hdf5'")
      .def_ro("path", &Catalog::path)
      .def_ro("tensors", &Catalog::tensors, nb::rv_policy::reference_internal, "In the order of their first byte.")
      .def_ro("metadata", &Catalog::metadata)
      .def_ro("warnings", &Catalog::warnings)
      .def_prop_ro("nbytes", &Catalog::total_bytes)
      .def("__len__", [](const Catalog& c) { return c.tensors.size(); });
  m.def(
      "open_checkpoint",
      [](const std::filesystem::path& path) {
        Result<Catalog> catalog = [&] {
          nb::gil_scoped_release release;
          return open_checkpoint(path.string());
        }();
        return take(std::move(catalog), Missing::kFile);
      },
      nb::arg("path"),
      "Opens a .safetensors file or index, a folder with one, .weights.h5, .weights.json, .keras or HDF5, found by "
      "content; reads headers only.\n\nRaises FileNotFoundError, PermissionError, DataLossError (malformed: names "
      "file, "
      "tensor and offset), NotImplementedError (names the feature), ResourceExhaustedError (over a cap).");

  nb::class_<View>(m, "View", "A stored tensor seen through reshape, transpose and slice. Immutable; copies nothing.")
      .def(nb::new_([](Shape shape) { return View::of(std::move(shape)); }), nb::arg("shape"))
      .def(
          "reshape", [](const View& v, const Shape& shape) { return take(v.reshape(shape)); }, nb::arg("shape"))
      .def(
          "transpose", [](const View& v, const std::vector<int>& p) { return take(v.transpose(p)); },
          nb::arg("permutation"))
      .def(
          "slice",
          [](const View& v, const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end,
             const std::vector<std::int64_t>& step) { return take(v.slice(begin, end, step)); },
          nb::arg("begin"), nb::arg("end"), nb::arg("step") = std::vector<std::int64_t>())
      .def_prop_ro("shape", [](const View& v) { return to_tuple(v.shape()); })
      .def_prop_ro("is_identity", &View::is_identity)
      .def("__eq__", [](const View& a, const View& b) { return a == b; })
      .def("__repr__", [](const View& v) { return "<View " + to_string(v.source_shape()) + v.to_string() + ">"; });
  m.def(
      "can_cast", [](const std::string& from, const std::string& to) { return can_cast(to_dtype(from), to_dtype(to)); },
      nb::arg("from_dtype"), nb::arg("to_dtype"), "Whether a load may convert between these dtypes.");
}

}  // namespace shardwise::python
