// What a failed system call means to a caller.
#pragma once

#include <string>
#include <string_view>

#include "shardwise/status.h"

namespace shardwise {

// "No such file or directory". Thread-safe.
std::string errno_text(int error);

// The Status for errno value `error` of doing `what` with `path`: "model.h5: cannot open it: No such file or
// directory". NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT (a path that cannot name a file), RESOURCE_EXHAUSTED
// (descriptors, memory), UNAVAILABLE for everything else.
Status system_error(int error, std::string_view path, std::string_view what);

}  // namespace shardwise
