#include "convert.h"

namespace shardwise::python {
namespace {

// Owned by the module, which is never unloaded.
PyObject* resource_exhausted_error = nullptr;
PyObject* data_loss_error = nullptr;
PyObject* cancelled_error = nullptr;

PyObject* add_exception(nb::module_& m, const char* name, const char* doc, nb::handle bases) {
  const std::string full = nb::cast<std::string>(m.attr("__name__")) + "." + name;
  PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr);
  if (type == nullptr) throw nb::python_error();
  m.attr(name) = nb::borrow(type);
  return type;
}

PyObject* exception_for(Code code, Missing missing) {
  switch (code) {
    case Code::kInvalidArgument:
      return PyExc_ValueError;
    case Code::kNotFound:
      return missing == Missing::kFile ? PyExc_FileNotFoundError : PyExc_KeyError;
    case Code::kPermissionDenied:
      return PyExc_PermissionError;
    case Code::kResourceExhausted:
      return resource_exhausted_error;
    case Code::kUnimplemented:
      return PyExc_NotImplementedError;
    case Code::kUnavailable:
      return PyExc_OSError;
    case Code::kDataLoss:
      return data_loss_error;
    case Code::kCancelled:
      return cancelled_error;
    case Code::kFailedPrecondition:
    case Code::kInternal:
    case Code::kOk:
      break;
  }
  return PyExc_RuntimeError;
}

}  // namespace

void raise(const Status& status, Missing missing) {
  PyErr_SetString(exception_for(status.code(), missing), status.message().c_str());
  throw nb::python_error();
}

void bind_errors(nb::module_& m) {
  const nb::handle os_error(PyExc_OSError);
  resource_exhausted_error = add_exception(
      m, "ResourceExhaustedError", "It does not fit: the message names the device, the numbers and what would fit.",
      nb::handle(PyExc_MemoryError));
  data_loss_error = add_exception(m, "DataLossError",
                                  "The bytes of a checkpoint are not what they should be: truncated, damaged, hostile.",
                                  nb::make_tuple(os_error, nb::handle(PyExc_ValueError)));
  cancelled_error =
      add_exception(m, "CancelledError", "The load was stopped before its end.", nb::handle(PyExc_RuntimeError));
}

DType to_dtype(const std::string& name) {
  const auto dtype = parse_dtype(name);
  if (!dtype) raise(invalid_argument("unknown dtype '" + name + "'"));
  return *dtype;
}

std::optional<DType> to_dtype(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  return to_dtype(*name);
}

nb::tuple to_tuple(const std::vector<std::int64_t>& values) {
  nb::list list;
  for (const std::int64_t value : values) list.append(value);
  return nb::tuple(list);
}

nb::tuple to_tuple(const TensorLayout& layout) {
  nb::list list;
  for (const Axis& axis : layout.axes) {
    if (axis) {
      list.append(*axis);
    } else {
      list.append(nb::none());
    }
  }
  return nb::tuple(list);
}

}  // namespace shardwise::python
