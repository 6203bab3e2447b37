// Datatype messages: what an element of a dataset or an attribute is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "checkpoint/hdf5/cursor.h"
#include "shardwise/dtype.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

enum class Padding : std::uint8_t { kNulTerminated = 0, kNulPadded = 1, kSpacePadded = 2 };

struct Datatype {
  enum class Kind {
    kNumber,          // `number` is what it is
    kOpaque,          // `size` bytes that only an attribute can explain
    kFixedString,     // `size` bytes, ended or filled up as `padding` says
    kVariableString,  // a reference to the global heap
    kUnsupported,     // legal; `description` names it
  };
  Kind kind = Kind::kUnsupported;
  std::uint32_t size = 0;  // bytes of one element, > 0
  DType number = DType::kInt8;
  Padding padding = Padding::kNulTerminated;
  std::string description;  // "big-endian integer"
};

// Errors: DATA_LOSS for what no legal file holds (size 0, unknown class, an enumeration over floats).
Result<Datatype> read_datatype(Cursor& cursor);

}  // namespace shardwise::hdf5
