// The raw limit: how fast this machine reads the same bytes when it does nothing else with them.
#pragma once

#include <stop_token>
#include <vector>

#include "cli/page_cache.h"

namespace shardwise::cli {

enum class RawMethod : std::uint8_t {
  kBuffered,  // pread through the page cache
  kDirect,    // pread with O_DIRECT
};

// Reads all ranges once with `threads` threads, in large reads, into fresh huge-page memory that each thread touches
// first. Returns seconds from asking for the memory to the last byte.
// Errors: those of the files; RESOURCE_EXHAUSTED (memory, threads); UNIMPLEMENTED (no direct I/O here); CANCELLED.
Result<double> raw_read(const std::vector<FileRange>& ranges, unsigned threads, RawMethod method, std::stop_token stop);

}  // namespace shardwise::cli
