// Version 2 B-trees: the index of what new-style groups and attributes keep in a fractal heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "checkpoint/hdf5/metadata.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

enum class BTree2Type : std::uint8_t { kLinkNames = 5, kAttributeNames = 8 };

// The records of a whole tree, `record_size` bytes each, one after the other in the order of the tree.
struct BTree2Records {
  std::uint16_t record_size = 0;
  std::vector<std::byte> bytes;

  std::size_t size() const { return record_size == 0 ? 0 : bytes.size() / record_size; }
};

// Reads the tree whose header is at `offset`: every node once, with its checksum. Errors: DATA_LOSS;
// RESOURCE_EXHAUSTED.
Result<BTree2Records> read_btree2(Metadata& metadata, std::uint64_t offset, BTree2Type type);

}  // namespace shardwise::hdf5
