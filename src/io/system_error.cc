#include "io/system_error.h"

#include <cerrno>
#include <system_error>

#include "base/format.h"

namespace shardwise {
namespace {

Code code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
      return Code::kPermissionDenied;
    case ELOOP:
    case ENAMETOOLONG:
    case EISDIR:
    case EINVAL:
    case ENXIO:
    case ENODEV:
    case EOVERFLOW:
      return Code::kInvalidArgument;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Code::kResourceExhausted;
    default:
      return Code::kUnavailable;
  }
}

}  // namespace

std::string errno_text(int error) { return std::generic_category().message(error); }

Status system_error(int error, std::string_view path, std::string_view what) {
  return Status(code_of(error), format("{}: cannot {}: {}", printable(path), what, errno_text(error)));
}

}  // namespace shardwise
