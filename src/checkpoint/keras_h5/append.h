// How the contents of an HDF5 file become a part of a catalog; shared by the three Keras readers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/hdf5/hdf5.h"
#include "shardwise/catalog.h"
#include "shardwise/status.h"

namespace shardwise::keras {

// Where the bytes of an HDF5 file lie: its first one is byte `offset` of Catalog::files[file].
struct Location {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;
};

// Moves `datasets`, whose encodings index `encodings`, behind the tensors of `catalog`. Neither sorts nor looks for
// repeated names. Errors: DATA_LOSS for extents that wrap, RESOURCE_EXHAUSTED for 2^32 encodings.
Status append_datasets(std::vector<TensorInfo> datasets, const std::vector<Encoding>& encodings, Location location,
                       Catalog& catalog);

// Adds what Keras says about itself to `metadata`, and keeps what stands there: the layer name, attribute `name` of a
// group that holds variables, under "<group>#name"; `keras_version` and `backend` of a legacy file under these names.
// Texts over 4 KiB are left out.
void append_metadata(const std::vector<hdf5::Group>& groups, Catalog& catalog);

// True when variables stand where Keras 3 puts them: in groups called "vars".
bool has_keras_groups(const std::vector<hdf5::Group>& groups);

}  // namespace shardwise::keras
