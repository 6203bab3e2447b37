// Formatting of messages: fmt, kept out of public headers.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <utility>

#include "shardwise/status.h"

namespace shardwise {

using fmt::format;

// data_loss("{}: ends at {}", path, size) and so on: a Status whose message is formatted.
#define SHARDWISE_FORMATTED_STATUS_(name)                                                    \
  template <typename First, typename... Rest>                                                \
  Status name(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest) {      \
    return name(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)); \
  }
SHARDWISE_FORMATTED_STATUS_(cancelled)
SHARDWISE_FORMATTED_STATUS_(invalid_argument)
SHARDWISE_FORMATTED_STATUS_(not_found)
SHARDWISE_FORMATTED_STATUS_(permission_denied)
SHARDWISE_FORMATTED_STATUS_(resource_exhausted)
SHARDWISE_FORMATTED_STATUS_(failed_precondition)
SHARDWISE_FORMATTED_STATUS_(unimplemented)
SHARDWISE_FORMATTED_STATUS_(internal_error)
SHARDWISE_FORMATTED_STATUS_(unavailable)
SHARDWISE_FORMATTED_STATUS_(data_loss)
#undef SHARDWISE_FORMATTED_STATUS_

// Text from a file made safe for a message: control characters and NUL escaped, cut at 200 bytes.
std::string printable(std::string_view text);

}  // namespace shardwise
