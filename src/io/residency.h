// Which part of a file lies in the page cache.
#pragma once

#include <optional>

#include "shardwise/bytes.h"

namespace shardwise {

// Share (0 to 1) of the range's pages that are in the page cache: cachestat(2) where the kernel has it, else mincore over
// a mapping that is never touched; nullopt when neither works for this descriptor. Reads no data. Thread-safe.
std::optional<double> resident_share(int descriptor, ByteRange range);

}  // namespace shardwise
