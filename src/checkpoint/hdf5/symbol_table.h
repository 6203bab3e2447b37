// Old-style groups: a symbol table message, a B-tree, symbol table nodes and a local heap of names.
#pragma once

#include <vector>

#include "checkpoint/hdf5/group.h"
#include "checkpoint/hdf5/object_header.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

// The links of the group with that symbol table message, in the order of their names, which is checked. Errors:
// DATA_LOSS; UNIMPLEMENTED for soft links.
Result<std::vector<Link>> read_symbol_table(Metadata& metadata, const Message& message);

}  // namespace shardwise::hdf5
