#include "checkpoint/hdf5/layout.h"

#include <array>
#include <string_view>

#include "base/format.h"

namespace shardwise::hdf5 {
namespace {

// Storage classes as they stand in the message.
constexpr std::uint8_t kCompactClass = 0;
constexpr std::uint8_t kContiguousClass = 1;
constexpr std::uint8_t kChunkedClass = 2;
constexpr std::uint8_t kVirtualClass = 3;
// Dimensions of a chunk: at most 32 of the dataset, and one more for the bytes of an element.
constexpr std::uint8_t kMaxChunkRank = 33;

// `rank` counts the element size as the last dimension.
Status read_chunk_dims(Cursor& cursor, std::uint8_t rank, Layout& layout) {
  if (rank < 2 || rank > kMaxChunkRank) return cursor.error(format("chunks of rank {}", int{rank} - 1));
  for (std::uint8_t d = 0; d + 1 < rank; ++d) {
    layout.chunk_dims.push_back(cursor.u32());
    if (cursor.ok() && layout.chunk_dims.back() == 0) return cursor.error(format("chunk dimension {} is 0", d));
  }
  layout.element_size = cursor.u32();
  return cursor.status();
}

Status read_compact(Cursor& cursor, std::uint64_t size, Layout& layout) {
  layout.kind = Layout::Kind::kCompact;
  layout.size = size;
  layout.address = cursor.position();
  cursor.skip(size);
  return cursor.status();
}

Result<Layout> read_old(Cursor& cursor) {
  const std::uint8_t rank = cursor.u8();
  const std::uint8_t storage = cursor.u8();
  cursor.skip(5);
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (rank == 0 || rank > kMaxChunkRank) return cursor.error(format("rank {}", rank));
  Layout layout;
  switch (storage) {
    case kCompactClass:
      cursor.skip(4 * std::uint64_t{rank});
      SHARDWISE_RETURN_IF_ERROR(read_compact(cursor, cursor.u32(), layout));
      return layout;
    case kContiguousClass:
      layout.address = cursor.address();
      cursor.skip(4 * std::uint64_t{rank});  // the size follows from dataspace and datatype
      SHARDWISE_RETURN_IF_ERROR(cursor.status());
      return layout;
    case kChunkedClass:
      layout.kind = Layout::Kind::kChunked;
      layout.address = cursor.address();
      SHARDWISE_RETURN_IF_ERROR(read_chunk_dims(cursor, rank, layout));
      return layout;
    default:
      return cursor.error(format("storage class {}", storage));
  }
}

Status refuse_new_index(Cursor& cursor, std::uint8_t version) {
  constexpr std::array<std::string_view, 6> kIndexes = {"unknown",     "single chunk",     "implicit",
                                                        "fixed array", "extensible array", "version 2 B-tree"};
  cursor.skip(1);  // flags
  const std::uint8_t rank = cursor.u8();
  const std::uint8_t width = cursor.u8();
  cursor.skip(std::uint64_t{rank} * width);
  const std::uint8_t index = cursor.u8();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (width == 0 || width > 8 || index == 0 || index >= kIndexes.size()) return cursor.error("unknown chunk index");
  return unimplemented("layout version {} with a chunk index of kind '{}'; rewrite the file without libver='latest'",
                       version, kIndexes[index]);
}

Result<Layout> read_new(Cursor& cursor, std::uint8_t version) {
  const std::uint8_t storage = cursor.u8();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  Layout layout;
  switch (storage) {
    case kCompactClass:
      SHARDWISE_RETURN_IF_ERROR(read_compact(cursor, cursor.u16(), layout));
      return layout;
    case kContiguousClass:
      layout.address = cursor.address();
      layout.size = cursor.length();
      SHARDWISE_RETURN_IF_ERROR(cursor.status());
      return layout;
    case kChunkedClass: {
      if (version > 3) return refuse_new_index(cursor, version);
      layout.kind = Layout::Kind::kChunked;
      const std::uint8_t rank = cursor.u8();
      layout.address = cursor.address();
      SHARDWISE_RETURN_IF_ERROR(cursor.status());
      SHARDWISE_RETURN_IF_ERROR(read_chunk_dims(cursor, rank, layout));
      return layout;
    }
    case kVirtualClass:
      return unimplemented("Not allowed: H5 file with virtual Dataset");
    default:
      return cursor.error(format("storage class {}", storage));
  }
}

}  // namespace

Result<Layout> read_layout(Cursor& cursor) {
  const std::uint8_t version = cursor.u8();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version == 0 || version > 5) return cursor.error(format("version {}", version));
  return version < 3 ? read_old(cursor) : read_new(cursor, version);
}

}  // namespace shardwise::hdf5
