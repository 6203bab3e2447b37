// Fractal heaps: where new-style groups and objects keep links and attributes that do not fit the header.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "checkpoint/hdf5/metadata.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

// One heap. Thread-compatible; borrows the metadata. Keeps the indirect blocks it has read, and checks each direct
// block once.
class FractalHeap {
 public:
  // Errors: DATA_LOSS; UNIMPLEMENTED for a heap whose blocks are filtered.
  static Result<FractalHeap> read(Metadata& metadata, std::uint64_t offset);

  // Bytes of an id in this heap.
  std::uint16_t id_size() const { return shape_.id_size; }
  // The object with that id. Errors: DATA_LOSS; UNIMPLEMENTED for huge objects, which are kept outside the heap.
  Result<Record> object(std::span<const std::byte> id);

 private:
  // Blocks stand in rows of `width`: the first two rows have blocks of `first_block` bytes, each further row of twice
  // as many. Rows of blocks up to `max_direct` bytes hold objects, the rows below hold further tables.
  struct Shape {
    std::uint16_t id_size = 0;
    bool has_checksums = false;
    std::uint32_t max_object = 0;
    std::uint64_t width = 0;
    std::uint64_t first_block = 0;
    std::uint64_t max_direct = 0;
    std::uint32_t offset_bytes = 0;  // bytes of an offset in the heap, in ids and block headers
    std::uint32_t length_bytes = 0;
    std::uint64_t direct_rows = 0;
    std::uint64_t root = kUndefined;
    std::uint64_t root_rows = 0;  // 0: the root is a direct block
  };
  struct Block {
    std::uint64_t address = kUndefined;
    std::uint64_t begin = 0;  // its first byte, as an offset in the heap
    std::uint64_t size = 0;
  };

  FractalHeap(Metadata& metadata, std::uint64_t offset, const Shape& shape)
      : metadata_(&metadata), offset_(offset), shape_(shape) {}

  static Result<Shape> read_shape(Metadata& metadata, std::uint64_t offset);
  static Status check_shape(const Shape& shape, std::uint16_t max_bits, const Cursor& cursor);
  Result<Block> find_block(std::uint64_t offset);
  Result<const std::vector<std::uint64_t>*> indirect_block(std::uint64_t address, std::uint64_t begin,
                                                           std::uint64_t rows);
  Status check_direct_block(const Block& block);

  Metadata* metadata_;
  std::uint64_t offset_;
  Shape shape_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> indirect_blocks_;
  std::set<std::uint64_t> checked_;
};

}  // namespace shardwise::hdf5
