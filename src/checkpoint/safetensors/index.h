// The JSON of a safetensors index: which file holds which tensor.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shardwise/status.h"

namespace shardwise::safetensors {

// Entries refer into `files`: movable, not copyable.
struct Index {
  Index() = default;
  Index(Index&&) = default;
  Index& operator=(Index&&) = default;

  struct Entry {
    std::string tensor;
    std::string_view file;  // a key of `files`
  };
  std::vector<Entry> weight_map;                // in the order of the JSON, at least one
  std::map<std::string, std::uint64_t> files;   // name as written -> number of its tensors
  std::map<std::string, std::string> metadata;  // those of its metadata that are strings
  std::optional<double> total_size;             // metadata.total_size, when it is a number
  std::vector<std::string> warnings;
};

// Errors: DATA_LOSS (not JSON, no weight_map, wrong types, repeated keys); RESOURCE_EXHAUSTED for more than
// `max_tensors`. File names are not checked.
Result<Index> parse_index(std::string_view json, std::uint64_t max_tensors);

}  // namespace shardwise::safetensors
