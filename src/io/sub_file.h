// A part of a file, as a file of its own: a stored member of an archive, for a reader that counts from its first byte.
#pragma once

#include <memory>
#include <string>

#include "shardwise/bytes.h"
#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise {

// Bytes `range` of `file`, of which it shares ownership. It has no descriptor: offsets in it differ from the file's.
// `path` is what messages call it; empty = the path of `file`. Errors: DATA_LOSS when the range leaves the file.
Result<std::shared_ptr<const File>> open_sub_file(std::shared_ptr<const File> file, ByteRange range,
                                                  std::string path = {});

}  // namespace shardwise
