#include "checkpoint/hdf5/object_header.h"

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <utility>

#include "base/format.h"
#include "checkpoint/hdf5/checksum.h"
#include "shardwise/bytes.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::string_view kWhat = "object header";
constexpr std::string_view kBlockWhat = "object header continuation";
constexpr std::uint16_t kLastKnownType = 0x18;
constexpr std::uint8_t kFailIfUnknown = 0x80;
constexpr std::size_t kMaxBlocks = 65536;

// Bits of the flags of a version 2 header.
constexpr std::uint8_t kSizeWidthMask = 0x03;
constexpr std::uint8_t kTracksOrder = 0x04;
constexpr std::uint8_t kHasPhaseChange = 0x10;
constexpr std::uint8_t kHasTimes = 0x20;
constexpr std::uint8_t kUnknownFlags = 0xc0;

// Reads one header: its first block, then the blocks that continuation messages lead to, each once.
class HeaderReader {
 public:
  HeaderReader(Metadata& metadata, std::uint64_t offset) : metadata_(metadata) { header_.offset = offset; }

  Result<ObjectHeader> read() {
    SHARDWISE_RETURN_IF_ERROR(read_first_block());
    while (!pending_.empty()) {
      const ByteRange range = pending_.front();
      pending_.pop_front();
      SHARDWISE_RETURN_IF_ERROR(read_continuation(range));
    }
    if (version_ == 1 && messages_ != declared_messages_) {
      return data_loss("{} at byte {}: {} messages, it says {} (corrupt file?)", kWhat, header_.offset, messages_,
                       declared_messages_);
    }
    return std::move(header_);
  }

 private:
  Status read_first_block() {
    const std::uint64_t left = metadata_.format().end - std::min(metadata_.format().end, header_.offset);
    SHARDWISE_ASSIGN_OR_RETURN(const Record prefix,
                               metadata_.load(header_.offset, std::clamp<std::uint64_t>(left, 1, 48), kWhat));
    Cursor cursor = prefix.cursor(metadata_.format(), kWhat);
    if (cursor.signature("OHDR")) return read_first_block_v2(cursor);
    const std::uint8_t version = cursor.u8();
    cursor.skip(1);
    declared_messages_ = cursor.u16();
    cursor.skip(4);  // reference count
    const std::uint32_t size = cursor.u32();
    cursor.align(8);
    SHARDWISE_RETURN_IF_ERROR(cursor.status());
    if (version != 1) return cursor.error("neither version 1 nor version 2");
    return read_block(cursor.position(), size, kWhat, 0, 0);
  }

  Status read_first_block_v2(Cursor& cursor) {
    const std::uint8_t version = cursor.u8();
    const std::uint8_t flags = cursor.u8();
    if ((flags & kHasTimes) != 0) cursor.skip(16);
    if ((flags & kHasPhaseChange) != 0) cursor.skip(4);
    const std::uint64_t size = cursor.uint(1u << (flags & kSizeWidthMask));
    SHARDWISE_RETURN_IF_ERROR(cursor.status());
    if (version != 2) return cursor.error(format("version {} under the signature of version 2", version));
    if ((flags & kUnknownFlags) != 0) return cursor.error("unknown flags");
    version_ = 2;
    tracks_order_ = (flags & kTracksOrder) != 0;
    if (size > metadata_.format().end) return cursor.error(format("{} bytes, more than the file has", size));
    return read_block(header_.offset, cursor.consumed() + size + 4, kWhat, cursor.consumed(), 4);
  }

  Status read_continuation(ByteRange range) {
    if (!seen_.insert(range.begin).second) {
      return data_loss("{} at byte {}: reached twice (a cycle)", kBlockWhat, range.begin);
    }
    if (seen_.size() > kMaxBlocks) return resource_exhausted("{}: more than {} of them", kBlockWhat, kMaxBlocks);
    if (version_ == 1) return read_block(range.begin, range.size(), kBlockWhat, 0, 0);
    return read_block(range.begin, range.size(), kBlockWhat, 4, 4);
  }

  // A block is `prefix` bytes (checked here only for the signature of a continuation), messages, `suffix` bytes of
  // checksum.
  Status read_block(std::uint64_t offset, std::uint64_t size, std::string_view what, std::uint64_t prefix,
                    std::uint64_t suffix) {
    SHARDWISE_ASSIGN_OR_RETURN(Record record, metadata_.load(offset, size, what));
    if (version_ == 2) {
      Cursor start = record.cursor(metadata_.format(), what);
      if (!start.signature(what == kBlockWhat ? "OCHK" : "OHDR")) return start.error("its signature is missing");
      SHARDWISE_RETURN_IF_ERROR(check_checksum(record.bytes, offset, what));
      if (size < prefix + suffix) return start.error("too short");
    }
    header_.blocks.push_back(std::move(record));
    const auto body = std::span<const std::byte>(header_.blocks.back().bytes).subspan(prefix, size - prefix - suffix);
    Cursor cursor(body, offset + prefix, metadata_.format(), what);
    const std::uint64_t message_prefix = version_ == 1 ? 8 : tracks_order_ ? 6 : 4;
    // In version 2 a rest that is too short for a message is a gap.
    while (cursor.remaining() > 0 && (version_ == 1 || cursor.remaining() >= message_prefix)) {
      SHARDWISE_RETURN_IF_ERROR(read_message(cursor));
    }
    return {};
  }

  Status read_message(Cursor& cursor) {
    ++messages_;
    Message message;
    const std::uint16_t type = version_ == 1 ? cursor.u16() : cursor.u8();
    const std::uint16_t size = cursor.u16();
    message.flags = cursor.u8();
    if (version_ == 1) cursor.skip(3);
    if (tracks_order_) cursor.skip(2);
    message.type = static_cast<MessageType>(type);
    message.offset = cursor.position();
    message.data = cursor.take(size);
    if (!cursor.ok()) return cursor.error(format("a message of {} bytes reaches beyond the block", size));
    if (version_ == 1 && size % 8 != 0) return cursor.error(format("a message of {} bytes, not a multiple of 8", size));
    if (message.type == MessageType::kNil) return {};
    if (message.type == MessageType::kContinuation) return add_continuation(message);
    if (type > kLastKnownType || message.type == MessageType::kBogus) {
      if ((message.flags & kFailIfUnknown) == 0) return {};
      return unimplemented("{} at byte {}: message of unknown type {:#06x} that must not be ignored", kWhat,
                           header_.offset, type);
    }
    SHARDWISE_RETURN_IF_ERROR(metadata_.charge(sizeof(Message)));
    header_.messages.push_back(message);
    return {};
  }

  Status add_continuation(const Message& message) {
    Cursor cursor = message.cursor(metadata_.format());
    const std::uint64_t offset = cursor.address();
    const std::uint64_t size = cursor.length();
    SHARDWISE_RETURN_IF_ERROR(cursor.status());
    if (offset > metadata_.format().end || size > metadata_.format().end - offset) {
      return cursor.error(
          format("leads to {} bytes from byte {} on, beyond the end at {}", size, offset, metadata_.format().end));
    }
    if (size == 0) return cursor.error("leads to a block without bytes");
    pending_.push_back({offset, offset + size});
    return {};
  }

  Metadata& metadata_;
  ObjectHeader header_;
  int version_ = 1;
  bool tracks_order_ = false;
  std::uint64_t messages_ = 0;  // of every type
  std::uint64_t declared_messages_ = 0;
  std::deque<ByteRange> pending_;
  std::set<std::uint64_t> seen_;
};

}  // namespace

std::string_view to_string(MessageType type) {
  constexpr std::array<std::string_view, kLastKnownType + 1> kNames = {
      "NIL message",          "dataspace message",      "link info message",  "datatype message",
      "old fill message",     "fill value message",     "link message",       "external files message",
      "layout message",       "bogus message",          "group info message", "filter pipeline message",
      "attribute message",    "comment message",        "old time message",   "shared table message",
      "continuation message", "symbol table message",   "time message",       "B-tree K message",
      "driver message",       "attribute info message", "reference count",    "file space message",
      "cache image message"};
  const auto index = static_cast<std::size_t>(type);
  return index < kNames.size() ? kNames[index] : "unknown message";
}

bool ObjectHeader::has(MessageType type) const {
  return std::any_of(messages.begin(), messages.end(), [&](const Message& m) { return m.type == type; });
}

Result<const Message*> ObjectHeader::find(MessageType type) const {
  const Message* found = nullptr;
  for (const Message& message : messages) {
    if (message.type != type) continue;
    if (found != nullptr) {
      return data_loss("object header at byte {}: more than one {} (corrupt file?)", offset, to_string(type));
    }
    found = &message;
  }
  if (found != nullptr && found->is_shared()) {
    return unimplemented("object header at byte {}: shared {} (kept in another object, as committed datatypes are)",
                         offset, to_string(type));
  }
  return found;
}

Result<ObjectHeader> read_object_header(Metadata& metadata, std::uint64_t offset) {
  return HeaderReader(metadata, offset).read();
}

}  // namespace shardwise::hdf5
