// Fill value messages: what the elements hold that were never written.
#pragma once

#include <string>

#include "checkpoint/hdf5/object_header.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

struct FillValue {
  std::string bytes;          // one element; empty = zeros
  bool is_undefined = false;  // never-written elements have no value at all
};

// The fill value of a dataset with elements of `element_size` bytes: the fill value message (versions 1 to 3), else the
// old fill message, else zeros. Errors: DATA_LOSS.
Result<FillValue> read_fill(const ObjectHeader& header, const FileFormat& format, std::uint32_t element_size);

}  // namespace shardwise::hdf5
