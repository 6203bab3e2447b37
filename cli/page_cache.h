// The page cache as bench needs it: emptied of some files, filled with them, and asked.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "shardwise/bytes.h"
#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise::cli {

// A stretch of an open file.
struct FileRange {
  std::shared_ptr<const File> file;
  ByteRange range;
};

std::uint64_t total_bytes(const std::vector<FileRange>& ranges);

// Writes back dirty pages and asks the kernel to forget the files; ask resident() whether it did.
void drop_from_cache(const std::vector<FileRange>& ranges);
// Reads everything once.
Status fill_cache(const std::vector<FileRange>& ranges);
// Share (0 to 1) of the ranges' bytes in the page cache; nullopt when the system does not tell.
std::optional<double> resident(const std::vector<FileRange>& ranges);

}  // namespace shardwise::cli
