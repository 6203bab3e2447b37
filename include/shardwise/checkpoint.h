// open_checkpoint: any supported checkpoint -> Catalog, without reading tensor data.
#pragma once

#include <cstdint>
#include <string>

#include "shardwise/bytes.h"
#include "shardwise/catalog.h"
#include "shardwise/status.h"

namespace shardwise {

// Caps against hostile files; the defaults hold for every real checkpoint seen.
struct OpenOptions {
  std::uint64_t max_header_bytes = 100'000'000;  // JSON headers and indexes (safetensors' own limit)
  std::uint64_t max_tensors = 10'000'000;
  std::uint64_t max_chunks = 4'000'000;  // chunks of all chunked datasets together
};

// Opens the checkpoint at `path`: a .safetensors file, a safetensors index (model.safetensors.index.json) or a folder
// that holds one, a Keras .weights.h5, a Keras sharded .weights.json, a .keras archive, or an HDF5 file. The format is
// found by content, not by name. Symlinks of `path` itself are followed; names inside a checkpoint that lead out of its
// folder are refused.
//
// Errors: NOT_FOUND, PERMISSION_DENIED, DATA_LOSS (malformed; names file, tensor, offset, cause), UNIMPLEMENTED (legal
// but unsupported; names the object), RESOURCE_EXHAUSTED (over a cap). Thread-safe.
Result<Catalog> open_checkpoint(const std::string& path, const OpenOptions& options = {});

}  // namespace shardwise
