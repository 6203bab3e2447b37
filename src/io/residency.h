// Which part of a file lies in the page cache.
#pragma once

#include <optional>

#include "shardwise/bytes.h"

namespace shardwise {

// Share (0 to 1) of the range's pages that are in the page cache; nullopt when the descriptor is no file or the kernel
// does not tell. Thread-safe. Asks in turn:
//   cachestat(2): exact, Linux 6.5;
//   mincore(2) over a mapping that is never touched: exact;
//   a sample of pages, with preadv2(RWF_NOWAIT): for files of others, of which Linux tells the first two nothing. An
//   estimate (64 pages at random places), and the kernel begins to read the pages of the sample that are missing.
std::optional<double> resident_share(int descriptor, ByteRange range);

// Each way alone.
std::optional<double> resident_share_by_cachestat(int descriptor, ByteRange range);
std::optional<double> resident_share_by_mincore(int descriptor, ByteRange range);
std::optional<double> resident_share_by_sample(int descriptor, ByteRange range);

}  // namespace shardwise
