// Where the central directory of a zip archive is.
#pragma once

#include <cstdint>

#include "shardwise/bytes.h"
#include "shardwise/checkpoint.h"
#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise::zip {

struct DirectoryPlace {
  ByteRange range;
  std::uint64_t entries = 0;  // as many headers as fit into `range`, at most
};

// Finds the end record behind a comment of up to 65535 bytes, and the ZIP64 one when there is one. Errors: see
// read_directory().
Result<DirectoryPlace> find_directory(const File& archive, const OpenOptions& options);

}  // namespace shardwise::zip
