#include "checkpoint/hdf5/chunk_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/checked.h"
#include "base/format.h"
#include "checkpoint/hdf5/btree.h"

namespace shardwise::hdf5 {
namespace {

struct ChunkKey {
  std::uint32_t stored_bytes = 0;
  std::uint32_t skipped_filters = 0;
  std::vector<std::uint64_t> origin;  // element of the dataset
  std::uint64_t element_byte = 0;     // byte inside that element: 0, but in the key that ends a tree
};

// Collects the chunks of one dataset.
class ChunkPolicy {
 public:
  using Key = ChunkKey;
  static constexpr BTreeType kType = BTreeType::kChunks;

  ChunkPolicy(Metadata& metadata, const ChunkGrid& grid, std::size_t rank, std::uint64_t max_chunks)
      : metadata_(metadata), grid_(grid), rank_(rank), max_chunks_(max_chunks) {}

  std::uint64_t key_size() const { return 8 + 8 * (rank_ + 1); }
  std::uint32_t max_children() const { return 2 * metadata_.format().chunk_k; }
  bool less(const Key& a, const Key& b) const {
    return std::tie(a.origin, a.element_byte) < std::tie(b.origin, b.element_byte);
  }

  Result<Key> read_key(Cursor& cursor) {
    Key key;
    key.stored_bytes = cursor.u32();
    key.skipped_filters = cursor.u32();
    for (std::size_t d = 0; d < rank_; ++d) key.origin.push_back(cursor.u64());
    key.element_byte = cursor.u64();
    SHARDWISE_RETURN_IF_ERROR(cursor.status());
    return key;
  }

  Status leaf(const Key& own, const Key& low, const Key& high, std::uint64_t address) {
    const std::uint64_t cell = grid_.cell_at(own.origin);
    if (cell == kUndefined || own.element_byte != 0) {
      return data_loss("a chunk at element [{}], where none can begin (corrupt file?)", fmt::join(own.origin, ", "));
    }
    if (less(own, low) || !less(own, high) || (!chunks_.empty() && chunks_.back().cell >= cell)) {
      return data_loss("the chunk at element [{}] is out of order or stored twice (corrupt file?)",
                       fmt::join(own.origin, ", "));
    }
    if (address > metadata_.format().end || own.stored_bytes > metadata_.format().end - address) {
      return data_loss("the chunk at element [{}]: {} bytes from byte {} on reach beyond the end at {}",
                       fmt::join(own.origin, ", "), own.stored_bytes, address, metadata_.format().end);
    }
    if (chunks_.size() >= max_chunks_) return resource_exhausted("more than {} chunks in all", max_chunks_);
    SHARDWISE_RETURN_IF_ERROR(metadata_.charge(sizeof(StoredChunk)));
    chunks_.push_back({cell, own.skipped_filters, ByteRange{address, address + own.stored_bytes}});
    return {};
  }

  std::vector<StoredChunk> take_chunks() { return std::move(chunks_); }

 private:
  Metadata& metadata_;
  const ChunkGrid& grid_;
  std::size_t rank_;
  std::uint64_t max_chunks_;
  std::vector<StoredChunk> chunks_;
};

Status check_disjoint(const std::vector<StoredChunk>& chunks) {
  std::vector<ByteRange> ranges;
  for (const StoredChunk& chunk : chunks) ranges.push_back(chunk.range);
  std::sort(ranges.begin(), ranges.end(), [](ByteRange a, ByteRange b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin >= ranges[i - 1].end) continue;
    return data_loss("two chunks share bytes: {} and {} (corrupt file?)", to_string(ranges[i - 1]),
                     to_string(ranges[i]));
  }
  return {};
}

}  // namespace

ChunkGrid::ChunkGrid(const Shape& shape, const std::vector<std::uint32_t>& chunk_dims)
    : shape_(shape), chunk_dims_(chunk_dims), strides_(shape.size(), 1) {
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides_[d] = cells_;
    cells_ *= ceil_div(static_cast<std::uint64_t>(shape[d]), chunk_dims[d]);
  }
}

std::uint64_t ChunkGrid::cell_at(const std::vector<std::uint64_t>& origin) const {
  std::uint64_t cell = 0;
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (origin[d] >= static_cast<std::uint64_t>(shape_[d]) || origin[d] % chunk_dims_[d] != 0) return kUndefined;
    cell += origin[d] / chunk_dims_[d] * strides_[d];
  }
  return cell;
}

Box ChunkGrid::box(std::uint64_t cell) const { return box_of(cell, shape_.size() - 1, 1); }

// `count` cells along `dim` from `cell` on, one cell in the dimensions before, all cells in those after.
Box ChunkGrid::box_of(std::uint64_t cell, std::size_t dim, std::uint64_t count) const {
  Box box;
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    const auto extent = static_cast<std::uint64_t>(shape_[d]);
    const std::uint64_t begin = d > dim ? 0 : cell / strides_[d] * chunk_dims_[d];
    const std::uint64_t cells = d == dim ? count : 1;
    const std::uint64_t end = d > dim ? extent : std::min(extent, begin + cells * chunk_dims_[d]);
    if (d <= dim) cell %= strides_[d];
    box.origin.push_back(static_cast<std::int64_t>(begin));
    box.extent.push_back(static_cast<std::int64_t>(end - begin));
  }
  return box;
}

void ChunkGrid::append_boxes(std::uint64_t begin, std::uint64_t end, std::vector<Box>& boxes) const {
  while (begin < end) {
    // The outermost dimension in which a whole step fits.
    std::size_t dim = 0;
    while (begin % strides_[dim] != 0 || end - begin < strides_[dim]) ++dim;
    const std::uint64_t row = dim == 0 ? cells_ : strides_[dim - 1];
    const std::uint64_t row_end = begin - begin % row + row;
    const std::uint64_t count = (std::min(end, row_end) - begin) / strides_[dim];
    boxes.push_back(box_of(begin, dim, count));
    begin += count * strides_[dim];
  }
}

Result<std::vector<StoredChunk>> read_chunks(Metadata& metadata, const Layout& layout, const ChunkGrid& grid,
                                             std::uint64_t max_chunks) {
  ChunkPolicy policy(metadata, grid, layout.chunk_dims.size(), max_chunks);
  SHARDWISE_RETURN_IF_ERROR(BTreeWalker(metadata, policy).walk(layout.address));
  std::vector<StoredChunk> chunks = policy.take_chunks();
  SHARDWISE_RETURN_IF_ERROR(check_disjoint(chunks));
  return chunks;
}

}  // namespace shardwise::hdf5
