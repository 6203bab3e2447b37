// The index of a chunked dataset: which chunks are stored, and where.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/hdf5/layout.h"
#include "checkpoint/hdf5/metadata.h"
#include "shardwise/bytes.h"
#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

struct StoredChunk {
  std::uint64_t cell = 0;  // number of the chunk in the row-major grid of all chunks
  std::uint32_t skipped_filters = 0;
  ByteRange range;
};

// The grid that chunks of `chunk_dims` cut a shape into. Immutable. The shape has elements.
class ChunkGrid {
 public:
  ChunkGrid(const Shape& shape, const std::vector<std::uint32_t>& chunk_dims);

  std::uint64_t cells() const { return cells_; }
  // The elements of a chunk, cut at the edge of the shape.
  Box box(std::uint64_t cell) const;
  // Appends boxes that cover the elements of cells [begin, end): at most 2 * rank - 1 of them.
  void append_boxes(std::uint64_t begin, std::uint64_t end, std::vector<Box>& boxes) const;
  // The cell whose first element is `origin`; kUndefined when there is none.
  std::uint64_t cell_at(const std::vector<std::uint64_t>& origin) const;

 private:
  Box box_of(std::uint64_t cell, std::size_t dim, std::uint64_t count) const;

  Shape shape_;
  std::vector<std::uint32_t> chunk_dims_;
  std::vector<std::uint64_t> strides_;  // cells from one index of a dimension to the next
  std::uint64_t cells_ = 1;
};

// All stored chunks, cells ascending. `layout` is chunked with an address. Errors: DATA_LOSS; RESOURCE_EXHAUSTED when
// there are more than `max_chunks`.
Result<std::vector<StoredChunk>> read_chunks(Metadata& metadata, const Layout& layout, const ChunkGrid& grid,
                                             std::uint64_t max_chunks);

}  // namespace shardwise::hdf5
