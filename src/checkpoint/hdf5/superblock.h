// The superblock: where an HDF5 file says how it is laid out.
#pragma once

#include <cstdint>
#include <optional>

#include "checkpoint/hdf5/metadata.h"
#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

struct Superblock {
  std::uint32_t version = 0;
  std::uint64_t root_header = kUndefined;
  std::uint64_t extension = kUndefined;  // versions 2 and 3: an object header with further settings
};

// The first of the offsets 0, 512, 1024, 2048, ... that has the signature; nullopt when none has.
Result<std::optional<std::uint64_t>> find_signature(const File& file);

// Reads the superblock (not its extension) and fills metadata.format(). Versions 0 to 3.
Result<Superblock> read_superblock(Metadata& metadata);

}  // namespace shardwise::hdf5
