// Window functions by scipy's names.
#pragma once

#include <string_view>
#include <vector>

#include "shardwise/status.h"

namespace shardwise {

// scipy.signal.get_window(name, length, fftbins=periodic), for the windows that take no parameter.
// Errors: INVALID_ARGUMENT for a name that scipy does not know; UNIMPLEMENTED for one whose parameter it wants.
Result<std::vector<double>> make_window(std::string_view name, std::size_t length, bool periodic);
Status check_window(std::string_view name);

}  // namespace shardwise
