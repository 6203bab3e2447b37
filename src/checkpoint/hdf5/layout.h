// Layout messages: how and where a dataset's elements are stored.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/hdf5/cursor.h"
#include "shardwise/bytes.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

struct Layout {
  enum class Kind { kCompact, kContiguous, kChunked } kind = Kind::kContiguous;

  // kCompact, kContiguous: where the elements are. `address` is kUndefined when nothing was ever written.
  // kChunked: `address` of the version 1 B-tree of chunks, kUndefined without any chunk.
  std::uint64_t address = kUndefined;
  // kCompact, kContiguous: bytes as stored in the message; kUndefined where the message (versions 1 and 2) has none.
  std::uint64_t size = kUndefined;
  // kChunked: elements of a chunk per dimension, each > 0; and bytes of an element.
  std::vector<std::uint32_t> chunk_dims;
  std::uint32_t element_size = 0;
};

// Versions 1 to 5. Errors: DATA_LOSS; UNIMPLEMENTED for virtual datasets and for the chunk indexes of versions 4 and 5,
// named.
Result<Layout> read_layout(Cursor& cursor);

}  // namespace shardwise::hdf5
