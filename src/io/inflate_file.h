// A deflated member of an archive, as a file that can be read anywhere.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "shardwise/bytes.h"
#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise {

struct InflateOptions {
  std::string path;  // what messages call the file; empty = the archive's path

  // Most bytes to inflate in all, those inflated again to go back among them. For whoever follows addresses that a file
  // gives: a hostile one can ask for many steps back.
  std::uint64_t max_work = std::numeric_limits<std::uint64_t>::max();
};

// The `size` bytes that the raw-deflate stream in bytes `member` of `archive` inflates to; shares ownership of
// `archive`.
//
// Reads that go forward continue one inflate, so reading in file order inflates once. While it advances, copies of its
// state are kept every max(1 MiB, size / 128) inflated bytes; a read that goes back starts from the nearest one. Small
// reads are served from a few cached segments. Memory: at most 10 MiB whatever the member, nothing before the first
// read.
//
// Thread-safe; reads take turns. Errors of open: DATA_LOSS when `member` leaves the archive or is too short to inflate
// to `size`. Errors of read, besides those of the archive: DATA_LOSS for a corrupt stream and for one that does not end
// after exactly `size` bytes and at the end of `member`, found when a read gets there; RESOURCE_EXHAUSTED without
// memory.
Result<std::shared_ptr<const File>> open_inflate_file(std::shared_ptr<const File> archive, ByteRange member,
                                                      std::uint64_t size, InflateOptions options = {});

}  // namespace shardwise
