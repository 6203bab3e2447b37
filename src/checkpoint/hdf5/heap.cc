#include "checkpoint/hdf5/heap.h"

#include <array>

#include "base/checked.h"
#include "base/format.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::string_view kLocal = "local heap";
constexpr std::string_view kGlobal = "global heap collection";
constexpr std::uint64_t kGlobalAlignment = 8;

}  // namespace

Result<LocalHeap> LocalHeap::read(Metadata& metadata, std::uint64_t offset) {
  const FileFormat& format = metadata.format();
  const std::uint64_t size = 8 + 2 * std::uint64_t{format.length_size} + format.offset_size;
  SHARDWISE_ASSIGN_OR_RETURN(const Record record, metadata.load(offset, size, kLocal));
  Cursor cursor = record.cursor(format, kLocal);
  if (!cursor.signature("HEAP")) return cursor.error("its signature is missing");
  const std::uint8_t version = cursor.u8();
  cursor.skip(3);
  const std::uint64_t data_size = cursor.length();
  cursor.skip(format.length_size);  // free list
  const std::uint64_t data = cursor.address();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version != 0) return cursor.error(shardwise::format("version {}", version));
  if (data > format.end || data_size > format.end - data) {
    return cursor.error(
        shardwise::format("its {} bytes from byte {} on reach beyond the end at {}", data_size, data, format.end));
  }
  return LocalHeap(metadata, ByteRange{data, data + data_size});
}

Result<std::string> LocalHeap::name(std::uint64_t offset) const {
  if (offset >= data_.size()) {
    return data_loss("{} at bytes {}: a name at offset {}, outside its {} bytes (corrupt file?)", kLocal,
                     to_string(data_), offset, data_.size());
  }
  return metadata_->c_string(data_.begin + offset, data_.end, kLocal);
}

Result<GlobalHeaps::Collection> GlobalHeaps::read_collection(std::uint64_t offset) {
  const FileFormat& format = metadata_.format();
  // Of the collection and of each object alike: 8 bytes and a length, up to a multiple of 8.
  const std::uint64_t header_size = round_up(8 + std::uint64_t{format.length_size}, kGlobalAlignment);
  SHARDWISE_ASSIGN_OR_RETURN(const Record head, metadata_.load(offset, header_size, kGlobal));
  Cursor cursor = head.cursor(format, kGlobal);
  if (!cursor.signature("GCOL")) return cursor.error("its signature is missing");
  const std::uint8_t version = cursor.u8();
  cursor.skip(3);
  const std::uint64_t size = cursor.length();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version != 1) return cursor.error(shardwise::format("version {}", version));
  if (size < header_size || size > format.end - offset) {
    return cursor.error(shardwise::format("its {} bytes reach beyond the end at {}", size, format.end));
  }

  Collection objects;
  const std::uint64_t end = offset + size;
  // Each object: index, reference count, 4 reserved bytes, size, then its bytes up to a multiple of 8. Index 0 is free
  // space, whose size includes the header.
  for (std::uint64_t at = offset + header_size; end - at >= header_size;) {
    SHARDWISE_ASSIGN_OR_RETURN(const Record entry, metadata_.load(at, header_size, kGlobal));
    Cursor fields = entry.cursor(format, kGlobal);
    const std::uint16_t index = fields.u16();
    fields.skip(6);
    const std::uint64_t bytes = fields.length();
    const std::uint64_t left = end - at;
    const std::uint64_t needed = index == 0 ? bytes : header_size + round_up(std::min(bytes, left), kGlobalAlignment);
    if (bytes > left || needed > left || needed < header_size) {
      return fields.error(shardwise::format("object {} of {} bytes does not fit the collection", index, bytes));
    }
    SHARDWISE_RETURN_IF_ERROR(metadata_.charge(sizeof(Collection::value_type) + 48));
    const ByteRange range{at + header_size, at + header_size + bytes};
    if (index != 0 && !objects.emplace(index, range).second) {
      return fields.error(shardwise::format("object {} stands in it twice", index));
    }
    at += needed;
  }
  return objects;
}

Result<std::string> GlobalHeaps::text(std::uint64_t collection, std::uint32_t index, std::uint32_t length) {
  auto found = collections_.find(collection);
  if (found == collections_.end()) {
    SHARDWISE_ASSIGN_OR_RETURN(Collection objects, read_collection(collection));
    found = collections_.emplace(collection, std::move(objects)).first;
  }
  const auto object = found->second.find(index);
  if (object == found->second.end()) {
    return data_loss("{} at byte {}: has no object {} (corrupt reference?)", kGlobal, collection, index);
  }
  if (length > object->second.size()) {
    return data_loss("{} at byte {}: object {} has {} bytes, a reference says {}", kGlobal, collection, index,
                     object->second.size(), length);
  }
  SHARDWISE_ASSIGN_OR_RETURN(const Record record, metadata_.load(object->second.begin, length, kGlobal));
  return std::string(as_text(record.bytes));
}

}  // namespace shardwise::hdf5
