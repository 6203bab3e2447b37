// The index of a sharded Keras checkpoint: which shard files hold which groups of variables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shardwise/checkpoint.h"
#include "shardwise/status.h"

namespace shardwise::keras {

struct WeightMap {
  std::vector<std::string> files;  // plain names, sorted, each once
  // HDF5 group without leading slash ("layers/dense/vars") -> indices into `files`, rising.
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> groups;
  std::optional<double> total_size;  // bytes of all variables, as the writer counted them
};

// Parses a .weights.json. A key is a group with its leading slash; one without is what Keras's reader takes as well,
// the layer's path: "layers/dense" stands for "/layers/dense/vars". Unknown keys beside "metadata" and "weight_map" are
// skipped.
//
// Errors, each naming the key: DATA_LOSS for malformed JSON, wrong types, repeated keys, groups or files, file names
// that are not plain; RESOURCE_EXHAUSTED for more groups and files than `options` and a limit of 65536 files allow.
Result<WeightMap> parse_weight_map(std::string_view json, const OpenOptions& options);

}  // namespace shardwise::keras
