// Filter pipeline messages: what was done to each chunk before it was stored.
#pragma once

#include <vector>

#include "checkpoint/hdf5/cursor.h"
#include "shardwise/catalog.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

// Filters in the order of writing. Versions 1 and 2. Errors: DATA_LOSS; UNIMPLEMENTED for a filter that is none of
// deflate, shuffle and fletcher32, named.
Result<std::vector<Filter>> read_pipeline(Cursor& cursor);

}  // namespace shardwise::hdf5
