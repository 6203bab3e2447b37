// Object headers (versions 1 and 2): the messages that describe a group or a dataset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "checkpoint/hdf5/metadata.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

enum class MessageType : std::uint16_t {
  kNil = 0x00,
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kOldFill = 0x04,
  kFill = 0x05,
  kLink = 0x06,
  kExternalFiles = 0x07,
  kLayout = 0x08,
  kBogus = 0x09,
  kGroupInfo = 0x0a,
  kFilters = 0x0b,
  kAttribute = 0x0c,
  kComment = 0x0d,
  kOldModified = 0x0e,
  kSharedTable = 0x0f,
  kContinuation = 0x10,
  kSymbolTable = 0x11,
  kModified = 0x12,
  kBTreeK = 0x13,
  kDriver = 0x14,
  kAttributeInfo = 0x15,
  kReferenceCount = 0x16,
  kFileSpace = 0x17,
  kCacheImage = 0x18,
};

// "dataspace message" and so on.
std::string_view to_string(MessageType type);

// One message; `data` points into the ObjectHeader it belongs to.
struct Message {
  MessageType type = MessageType::kNil;
  std::uint8_t flags = 0;
  std::uint64_t offset = 0;  // of its data, in the file
  std::span<const std::byte> data;

  bool is_shared() const { return (flags & 0x02) != 0; }
  Cursor cursor(const FileFormat& format) const { return {data, offset, format, to_string(type)}; }
};

// All messages of one object, without NIL and continuation messages. Movable only: messages point into blocks.
struct ObjectHeader {
  std::uint64_t offset = 0;
  std::vector<Record> blocks;
  std::vector<Message> messages;

  ObjectHeader() = default;
  ObjectHeader(ObjectHeader&&) = default;
  ObjectHeader& operator=(ObjectHeader&&) = default;

  bool has(MessageType type) const;
  // The only message of a type, or nullptr. Errors: DATA_LOSS when there are several; UNIMPLEMENTED when it is shared,
  // that is, kept elsewhere (a committed datatype, for one).
  Result<const Message*> find(MessageType type) const;
};

// Reads the header at `offset` with its continuations, whose checksums are verified. Errors: DATA_LOSS; UNIMPLEMENTED
// for a message that its writer forbids to ignore; RESOURCE_EXHAUSTED.
Result<ObjectHeader> read_object_header(Metadata& metadata, std::uint64_t offset);

}  // namespace shardwise::hdf5
