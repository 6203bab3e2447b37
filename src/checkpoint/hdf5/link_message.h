// Link and link info messages of new-style groups.
#pragma once

#include <cstdint>

#include "checkpoint/hdf5/group.h"
#include "checkpoint/hdf5/object_header.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

struct LinkInfo {
  std::uint64_t heap = kUndefined;        // fractal heap with link messages; kUndefined: they are in the header
  std::uint64_t name_index = kUndefined;  // version 2 B-tree over their names
};
Result<LinkInfo> read_link_info(const Message& message, const FileFormat& format);

// One link. Errors: DATA_LOSS; UNIMPLEMENTED for soft, external and user-defined links, named as Keras names them.
Result<Link> read_link(Cursor& cursor);

}  // namespace shardwise::hdf5
