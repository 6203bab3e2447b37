#include "checkpoint/hdf5/superblock.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/checked.h"
#include "base/format.h"
#include "checkpoint/hdf5/checksum.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
constexpr std::string_view kWhat = "superblock";
// The longest: version 1 with 8-byte addresses and lengths.
constexpr std::uint64_t kMaxSize = 100;
constexpr std::uint8_t kOpenForWriting = 0x01;
constexpr std::uint8_t kOpenForSwmr = 0x04;

Status set_widths(Cursor& cursor, FileFormat& format) {
  format.offset_size = cursor.u8();
  format.length_size = cursor.u8();
  for (const std::uint32_t width : {format.offset_size, format.length_size}) {
    if (width == 2 || width == 4 || width == 8) continue;
    if (width == 16 || width == 32) return unimplemented("{}: addresses or lengths of {} bytes", kWhat, width);
    return cursor.error(shardwise::format("addresses or lengths of {} bytes", width));
  }
  return {};
}

// Addresses count from the place of the superblock, even where it says otherwise: a user block may have been put before
// the file, or taken away, later. The end of file moves with it, as in libhdf5.
Status set_extent(std::uint64_t stored_base, std::uint64_t stored_end, const Metadata& metadata, FileFormat& format) {
  const std::uint64_t size = metadata.file().size();
  if (stored_base == kUndefined || stored_end == kUndefined || stored_end < stored_base) {
    return data_loss("{} at byte {}: base address {} and end of file {} make no sense (corrupt file?)", kWhat,
                     format.base, stored_base, stored_end);
  }
  const auto end = checked_add(format.base, stored_end - stored_base);
  if (!end || *end > size) {
    return data_loss("{} at byte {}: says that the file has {} bytes after it, there are {} (truncated download?)",
                     kWhat, format.base, stored_end - stored_base, size - format.base);
  }
  format.end = *end;
  return {};
}

Result<Superblock> read_old(Cursor& cursor, std::uint32_t version, const Metadata& metadata, FileFormat& format) {
  const std::uint8_t free_space = cursor.u8();
  const std::uint8_t root_entry = cursor.u8();
  cursor.skip(1);
  const std::uint8_t shared_header = cursor.u8();
  SHARDWISE_RETURN_IF_ERROR(set_widths(cursor, format));
  cursor.skip(1);
  format.group_leaf_k = cursor.u16();
  format.group_internal_k = cursor.u16();
  cursor.skip(4);  // consistency flags, unused in these versions
  if (version == 1) {
    format.chunk_k = cursor.u16();
    cursor.skip(2);
  }
  const std::uint64_t base = cursor.uint(format.offset_size);
  cursor.skip(format.offset_size);  // free space
  const std::uint64_t end = cursor.uint(format.offset_size);
  const std::uint64_t driver = cursor.address();
  cursor.skip(format.offset_size);  // name of the root, of no use
  const std::uint64_t root = cursor.address();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (free_space != 0 || root_entry != 0 || shared_header != 0) return cursor.error("unknown versions of its parts");
  if (format.group_leaf_k == 0 || format.group_internal_k == 0 || format.chunk_k == 0) {
    return cursor.error("a B-tree rank of 0");
  }
  if (driver != kUndefined) return unimplemented("{}: data in several files (driver information)", kWhat);
  SHARDWISE_RETURN_IF_ERROR(set_extent(base, end, metadata, format));
  return Superblock{version, root, kUndefined};
}

Result<Superblock> read_new(Cursor& cursor, std::uint32_t version, const Metadata& metadata, const Record& record,
                            FileFormat& format) {
  SHARDWISE_RETURN_IF_ERROR(set_widths(cursor, format));
  const std::uint8_t flags = cursor.u8();
  const std::uint64_t base = cursor.uint(format.offset_size);
  const std::uint64_t extension = cursor.address();
  const std::uint64_t end = cursor.uint(format.offset_size);
  const std::uint64_t root = cursor.address();
  cursor.skip(4);
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  SHARDWISE_RETURN_IF_ERROR(check_checksum(std::span(record.bytes).first(cursor.consumed()), record.offset, kWhat));
  if (version >= 3 && (flags & (kOpenForWriting | kOpenForSwmr)) != 0) {
    return cursor.error("the file is marked as open for writing: whoever wrote it did not finish");
  }
  SHARDWISE_RETURN_IF_ERROR(set_extent(base, end, metadata, format));
  return Superblock{version, root, extension};
}

}  // namespace

Result<std::optional<std::uint64_t>> find_signature(const File& file) {
  std::array<std::byte, kSignature.size()> bytes;
  for (std::uint64_t at = 0; at < file.size() && file.size() - at >= bytes.size(); at = at == 0 ? 512 : at * 2) {
    SHARDWISE_RETURN_IF_ERROR(file.read(at, bytes));
    if (as_text(bytes) == kSignature) return std::optional(at);
    if (at > kUndefined / 2) break;
  }
  return std::optional<std::uint64_t>();
}

Result<Superblock> read_superblock(Metadata& metadata) {
  SHARDWISE_ASSIGN_OR_RETURN(const std::optional<std::uint64_t> at, find_signature(metadata.file()));
  const std::uint64_t size = metadata.file().size();
  if (!at) return data_loss("no HDF5 signature in {} bytes (not an HDF5 file, or cut at the front)", size);
  SHARDWISE_ASSIGN_OR_RETURN(const Record record, metadata.load(*at, std::min(kMaxSize, size - *at), kWhat));
  FileFormat format;
  format.base = *at;
  Cursor cursor = record.cursor(format, kWhat);
  cursor.skip(kSignature.size());
  const std::uint32_t version = cursor.u8();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version > 3) return unimplemented("{} at byte {}: version {}; 0 to 3 are supported", kWhat, *at, version);
  auto superblock =
      version < 2 ? read_old(cursor, version, metadata, format) : read_new(cursor, version, metadata, record, format);
  if (!superblock.ok()) return superblock;
  if (superblock->root_header == kUndefined) return cursor.error("the root group has no address");
  metadata.format() = format;
  return superblock;
}

}  // namespace shardwise::hdf5
