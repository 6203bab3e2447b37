// The range check that every File shares.
#pragma once

#include <cstdint>
#include <string_view>

#include "shardwise/status.h"

namespace shardwise {

// Ok when bytes [offset, offset + count) lie in a file of `size` bytes; does not wrap. Errors: DATA_LOSS.
Status check_file_range(std::string_view path, std::uint64_t size, std::uint64_t offset, std::uint64_t count);

// The DATA_LOSS of a file whose bytes stop at `end` although [offset, offset + count) was wanted.
Status ends_early(std::string_view path, std::uint64_t end, std::uint64_t offset, std::uint64_t count);

}  // namespace shardwise
