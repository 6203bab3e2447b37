// Dataspace messages (versions 1 and 2): the shape of a dataset or an attribute.
#pragma once

#include "checkpoint/hdf5/cursor.h"
#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

struct Dataspace {
  enum class Kind { kScalar, kSimple, kNull } kind = Kind::kScalar;  // kNull: no value at all, not even an empty array
  Shape shape;
};

// Errors: DATA_LOSS (unknown version, rank over 32, a dimension over 2^63-1 or over its maximum).
Result<Dataspace> read_dataspace(Cursor& cursor);

}  // namespace shardwise::hdf5
