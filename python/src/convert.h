// How values cross between Python and C++: errors become exceptions, data types and layouts plain Python values.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shardwise/dtype.h"
#include "shardwise/layout.h"
#include "shardwise/status.h"

namespace shardwise::python {

namespace nb = nanobind;

// What NOT_FOUND means where a status comes from.
enum class Missing { kKey, kFile };

// Throws the exception that a Python user expects for a status that is not ok; the table is in errors.cc.
[[noreturn]] void raise(const Status& status, Missing missing = Missing::kKey);

inline void check(const Status& status) {
  if (!status.ok()) raise(status);
}
template <typename T>
T take(Result<T> result, Missing missing = Missing::kKey) {
  if (!result.ok()) raise(result.status(), missing);
  return std::move(result).value();
}

// "float32" -> kFloat32. Throws ValueError for an unknown name.
DType to_dtype(const std::string& name);
std::optional<DType> to_dtype(const std::optional<std::string>& name);

// A Python tuple of ints, or of axis names and None.
nb::tuple to_tuple(const std::vector<std::int64_t>& values);
nb::tuple to_tuple(const TensorLayout& layout);

// One per file of this folder: adds its classes and functions to the module.
void bind_errors(nb::module_& m);
void bind_mesh(nb::module_& m);
void bind_checkpoint(nb::module_& m);
void bind_plan(nb::module_& m);
void bind_load(nb::module_& m);
void bind_random(nb::module_& m);

}  // namespace shardwise::python
