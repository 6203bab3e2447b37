// The JSON header of a safetensors file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "shardwise/dtype.h"
#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise::safetensors {

// One entry as written: nothing but its JSON types, dtype name and rank has been checked.
struct HeaderTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint64_t begin = 0;  // data_offsets, relative to the data behind the header
  std::uint64_t end = 0;
};

struct Header {
  std::vector<HeaderTensor> tensors;  // in the order of the JSON
  std::map<std::string, std::string> metadata;
};

// Errors: DATA_LOSS (not JSON; wrong types; missing, repeated or unknown values, naming the tensor); RESOURCE_EXHAUSTED
// for more than `max_tensors`. Unknown keys of an entry are skipped, as the reference implementation does.
Result<Header> parse_header(std::string_view json, std::uint64_t max_tensors);

}  // namespace shardwise::safetensors
