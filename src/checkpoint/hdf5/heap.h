// Local heaps (names of a group) and global heaps (variable-length values).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "checkpoint/hdf5/metadata.h"
#include "shardwise/bytes.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

// The names of one old-style group. Thread-compatible; borrows the metadata.
class LocalHeap {
 public:
  static Result<LocalHeap> read(Metadata& metadata, std::uint64_t offset);
  // The text at `offset` of the heap. Errors: DATA_LOSS when it is not inside.
  Result<std::string> name(std::uint64_t offset) const;

 private:
  LocalHeap(Metadata& metadata, ByteRange data) : metadata_(&metadata), data_(data) {}

  Metadata* metadata_;
  ByteRange data_;
};

// All global heap collections of a file, each read once, when first asked for. Thread-compatible; borrows the metadata.
class GlobalHeaps {
 public:
  explicit GlobalHeaps(Metadata& metadata) : metadata_(metadata) {}
  // `length` bytes of object `index` in the collection at `collection`. Errors: DATA_LOSS.
  Result<std::string> text(std::uint64_t collection, std::uint32_t index, std::uint32_t length);

 private:
  using Collection = std::map<std::uint32_t, ByteRange>;

  Result<Collection> read_collection(std::uint64_t offset);

  Metadata& metadata_;
  std::map<std::uint64_t, Collection> collections_;
};

}  // namespace shardwise::hdf5
