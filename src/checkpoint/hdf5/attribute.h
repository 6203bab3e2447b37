// Attribute messages (versions 1 to 3): the ones that hold text.
#pragma once

#include <string>

#include "checkpoint/hdf5/hdf5.h"
#include "checkpoint/hdf5/heap.h"
#include "checkpoint/hdf5/object_header.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

struct Attributes {
  TextAttributes text;
  // Why some attributes of the object could not be looked at; empty when all could.
  std::string unreadable;
};

// The attributes of an object, in its header or in a heap. Errors: DATA_LOSS; RESOURCE_EXHAUSTED.
Result<Attributes> read_attributes(Metadata& metadata, GlobalHeaps& heaps, const ObjectHeader& header);

}  // namespace shardwise::hdf5
