#include "checkpoint/hdf5/attribute.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/format.h"
#include "checkpoint/hdf5/btree2.h"
#include "checkpoint/hdf5/dataspace.h"
#include "checkpoint/hdf5/datatype.h"
#include "checkpoint/hdf5/fractal_heap.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::uint8_t kSharedDatatype = 0x01;
constexpr std::uint8_t kSharedDataspace = 0x02;
constexpr std::byte kSharedMessage{0x02};

// An attribute message cut into its parts.
struct Parts {
  std::string name;
  bool has_shared_parts = false;
  std::span<const std::byte> datatype;
  std::uint64_t datatype_offset = 0;
  std::span<const std::byte> dataspace;
  std::uint64_t dataspace_offset = 0;
};

Result<Parts> read_parts(Cursor& cursor) {
  const std::uint8_t version = cursor.u8();
  const std::uint8_t flags = cursor.u8();  // reserved in version 1
  const std::uint16_t name_size = cursor.u16();
  const std::uint16_t datatype_size = cursor.u16();
  const std::uint16_t dataspace_size = cursor.u16();
  if (version == 3) cursor.skip(1);  // character set of the name
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version == 0 || version > 3) return cursor.error(format("version {}", version));

  Parts parts;
  const auto take = [&](std::uint16_t size) {
    const auto bytes = cursor.take(size);
    if (version == 1) cursor.align(8);
    return bytes;
  };
  const std::string_view name = as_text(take(name_size));
  parts.datatype_offset = cursor.position();
  parts.datatype = take(datatype_size);
  parts.dataspace_offset = cursor.position();
  parts.dataspace = take(dataspace_size);
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  const std::size_t nul = name.find('\0');
  if (nul == std::string_view::npos || nul == 0) return cursor.error("a name that is empty or has no end");
  parts.name = name.substr(0, nul);
  parts.has_shared_parts = version > 1 && (flags & (kSharedDatatype | kSharedDataspace)) != 0;
  return parts;
}

std::string trimmed(std::string_view text, Padding padding) {
  if (padding == Padding::kNulTerminated) return std::string(text.substr(0, text.find('\0')));
  const std::size_t last = text.find_last_not_of(padding == Padding::kNulPadded ? '\0' : ' ');
  return std::string(text.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

Result<std::string> read_string(Cursor& cursor, const Datatype& type, GlobalHeaps& heaps) {
  if (type.kind == Datatype::Kind::kFixedString) return trimmed(as_text(cursor.take(type.size)), type.padding);
  const std::uint32_t length = cursor.u32();
  const std::uint64_t collection = cursor.address();
  const std::uint32_t index = cursor.u32();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (length == 0) return std::string();
  SHARDWISE_ASSIGN_OR_RETURN(const std::string text, heaps.text(collection, index, length));
  return text.substr(0, text.find('\0'));
}

Result<std::vector<std::string>> read_strings(Metadata& metadata, Cursor& cursor, const Datatype& type,
                                              const Dataspace& space, GlobalHeaps& heaps) {
  const auto count = element_count(space.shape);
  if (!count.ok()) return cursor.error(count.status().message());
  const auto bytes = checked_mul<std::uint64_t>(*count, type.size);
  if (!bytes || *bytes > cursor.remaining()) {
    return cursor.error(format("{} strings of {} bytes, {} bytes are there", *count, type.size, cursor.remaining()));
  }
  std::vector<std::string> strings;
  for (std::uint64_t i = 0; i < *count; ++i) {
    SHARDWISE_ASSIGN_OR_RETURN(std::string text, read_string(cursor, type, heaps));
    SHARDWISE_RETURN_IF_ERROR(metadata.charge(sizeof(std::string) + text.size()));
    strings.push_back(std::move(text));
  }
  return strings;
}

Status read_attribute(Metadata& metadata, GlobalHeaps& heaps, Cursor cursor, Attributes& attributes) {
  SHARDWISE_ASSIGN_OR_RETURN(Parts parts, read_parts(cursor));
  const std::string context = format("attribute '{}'", printable(parts.name));
  if (parts.has_shared_parts) {
    attributes.unreadable = context + " has a shared datatype or dataspace";
    return {};
  }
  Cursor type_cursor(parts.datatype, parts.datatype_offset, metadata.format(), "datatype");
  const auto type = read_datatype(type_cursor);
  if (!type.ok()) return type.status().with_context(context);
  if (type->kind != Datatype::Kind::kFixedString && type->kind != Datatype::Kind::kVariableString) return {};
  Cursor space_cursor(parts.dataspace, parts.dataspace_offset, metadata.format(), "dataspace");
  const auto space = read_dataspace(space_cursor);
  if (!space.ok()) return space.status().with_context(context);
  if (space->kind == Dataspace::Kind::kNull) return {};
  auto strings = read_strings(metadata, cursor, *type, *space, heaps);
  if (!strings.ok()) return strings.status().with_context(context);
  if (!attributes.text.emplace(std::move(parts.name), *std::move(strings)).second) {
    return data_loss("{} stands in the header twice (corrupt file?)", context);
  }
  return {};
}

// Where attributes are kept that do not fit the header.
struct DenseAttributes {
  std::uint64_t heap = kUndefined;
  std::uint64_t name_index = kUndefined;
};

Result<DenseAttributes> read_attribute_info(const Message& message, const FileFormat& format) {
  Cursor cursor = message.cursor(format);
  const std::uint8_t version = cursor.u8();
  const std::uint8_t flags = cursor.u8();
  if ((flags & 0x01) != 0) cursor.skip(2);  // largest creation index
  DenseAttributes dense;
  dense.heap = cursor.address();
  dense.name_index = cursor.address();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version != 0) return cursor.error(shardwise::format("version {}", version));
  return dense;
}

// Records of the index: id in the heap, flags of the message, creation order, hash of the name.
Status read_dense_attributes(Metadata& metadata, GlobalHeaps& heaps, const DenseAttributes& dense,
                             Attributes& attributes) {
  if (dense.name_index == kUndefined) return data_loss("attributes in a heap without an index of their names");
  SHARDWISE_ASSIGN_OR_RETURN(FractalHeap heap, FractalHeap::read(metadata, dense.heap));
  SHARDWISE_ASSIGN_OR_RETURN(const BTree2Records index,
                             read_btree2(metadata, dense.name_index, BTree2Type::kAttributeNames));
  if (index.record_size != heap.id_size() + 9) {
    return data_loss("an index of attributes with records of {} bytes for ids of {}", index.record_size,
                     heap.id_size());
  }
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto record = std::span(index.bytes).subspan(i * index.record_size, index.record_size);
    const bool is_shared = (record[heap.id_size()] & kSharedMessage) != std::byte{0};
    const auto object = is_shared ? Result<Record>(unimplemented("an attribute is kept in a shared message"))
                                  : heap.object(record.first(heap.id_size()));
    if (!object.ok() && object.status().code() == Code::kUnimplemented) {
      attributes.unreadable = object.status().message();
      continue;
    }
    if (!object.ok()) return object.status();
    SHARDWISE_RETURN_IF_ERROR(
        read_attribute(metadata, heaps, object->cursor(metadata.format(), "attribute message"), attributes));
  }
  return {};
}

}  // namespace

Result<Attributes> read_attributes(Metadata& metadata, GlobalHeaps& heaps, const ObjectHeader& header) {
  Attributes attributes;
  for (const Message& message : header.messages) {
    if (message.type != MessageType::kAttribute) continue;
    if (message.is_shared()) {
      attributes.unreadable = "an attribute is kept in a shared message";
      continue;
    }
    SHARDWISE_RETURN_IF_ERROR(read_attribute(metadata, heaps, message.cursor(metadata.format()), attributes));
  }
  SHARDWISE_ASSIGN_OR_RETURN(const Message* info, header.find(MessageType::kAttributeInfo));
  if (info == nullptr) return attributes;
  SHARDWISE_ASSIGN_OR_RETURN(const DenseAttributes dense, read_attribute_info(*info, metadata.format()));
  if (dense.heap == kUndefined) return attributes;
  SHARDWISE_RETURN_IF_ERROR(read_dense_attributes(metadata, heaps, dense, attributes));
  return attributes;
}

}  // namespace shardwise::hdf5
