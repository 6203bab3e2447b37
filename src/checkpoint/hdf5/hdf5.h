// The HDF5 reader: object tree, attributes and storage addresses of a file, without reading raw data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shardwise/catalog.h"
#include "shardwise/checkpoint.h"
#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

// Attributes that hold text: a scalar or an array of fixed or variable-length strings. Others are skipped.
using TextAttributes = std::map<std::string, std::vector<std::string>>;

struct Group {
  std::string path;  // without leading slash; "" = root
  TextAttributes attributes;
};

// A dataset as a catalog tensor: name = path without leading slash; extents address the file given (file index 0);
// encodings index Contents::encodings. Datasets reached by several hard links appear once per link.
struct Contents {
  std::vector<Group> groups;
  std::vector<TensorInfo> datasets;
  std::vector<TextAttributes> dataset_attributes;  // parallel to datasets
  std::vector<Encoding> encodings;
};

// True when the file has an HDF5 signature at 0, 512, 1024, ...: the offsets the format allows.
bool has_signature(const File& file);

// Reads superblock, groups and dataset headers. Memory is bounded by the caps of `options`; recursion is bounded.
// Errors: DATA_LOSS (malformed), UNIMPLEMENTED (names the object's path and the feature), RESOURCE_EXHAUSTED (caps).
// An opaque dataset of size 2 with attribute dtype = "bfloat16" is bfloat16; other opaque data is UNIMPLEMENTED.
Result<Contents> read(const File& file, const OpenOptions& options = {});

}  // namespace shardwise::hdf5
