// Which part of a file lies in the page cache.
#pragma once

#include <optional>

#include "shardwise/bytes.h"

namespace shardwise {

// Share (0 to 1) of the range's pages that are in the page cache: cachestat(2) where the kernel has it, else mincore
// over a mapping that is never touched; nullopt when neither works for this descriptor. Reads no data. Thread-safe.
//
// Linux answers only those who own the file or may write to it; for others the share is nullopt too.
std::optional<double> resident_share(int descriptor, ByteRange range);

// The two ways, each alone.
std::optional<double> resident_share_by_cachestat(int descriptor, ByteRange range);
std::optional<double> resident_share_by_mincore(int descriptor, ByteRange range);

}  // namespace shardwise
