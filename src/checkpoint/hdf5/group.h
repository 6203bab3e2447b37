// The links of a group, old style (symbol table) or new style (link messages).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/hdf5/object_header.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

// A hard link. Names are not empty and have no '/'.
struct Link {
  std::string name;
  std::uint64_t header = kUndefined;  // of the object, in bytes of the file
};

bool is_group(const ObjectHeader& header);

// The group's links, sorted by name, names unique. Errors: DATA_LOSS; RESOURCE_EXHAUSTED; UNIMPLEMENTED for soft,
// external and user-defined links.
Result<std::vector<Link>> read_links(Metadata& metadata, const ObjectHeader& header);

}  // namespace shardwise::hdf5
