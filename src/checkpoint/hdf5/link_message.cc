#include "checkpoint/hdf5/link_message.h"

#include "base/format.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::uint8_t kHardLink = 0;
constexpr std::uint8_t kSoftLink = 1;
constexpr std::uint8_t kExternalLink = 64;

// Bits of a link message's flags.
constexpr std::uint8_t kNameWidthMask = 0x03;
constexpr std::uint8_t kHasOrder = 0x04;
constexpr std::uint8_t kHasType = 0x08;
constexpr std::uint8_t kHasCharset = 0x10;
constexpr std::uint8_t kUnknownFlags = 0xe0;

}  // namespace

Result<LinkInfo> read_link_info(const Message& message, const FileFormat& format) {
  Cursor cursor = message.cursor(format);
  const std::uint8_t version = cursor.u8();
  const std::uint8_t flags = cursor.u8();
  if ((flags & 0x01) != 0) cursor.skip(8);  // largest creation index
  LinkInfo info;
  info.heap = cursor.address();
  info.name_index = cursor.address();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version != 0) return cursor.error(shardwise::format("version {}", version));
  return info;
}

Result<Link> read_link(Cursor& cursor) {
  const std::uint8_t version = cursor.u8();
  const std::uint8_t flags = cursor.u8();
  const std::uint8_t type = (flags & kHasType) != 0 ? cursor.u8() : kHardLink;
  if ((flags & kHasOrder) != 0) cursor.skip(8);
  if ((flags & kHasCharset) != 0) cursor.skip(1);
  const std::uint64_t name_size = cursor.uint(1u << (flags & kNameWidthMask));
  Link link{std::string(as_text(cursor.take(name_size)))};
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version != 1) return cursor.error(format("version {}", version));
  if ((flags & kUnknownFlags) != 0) return cursor.error("unknown flags");
  if (type == kSoftLink) return unimplemented("'{}': Not allowed: H5 file with SoftLink", printable(link.name));
  if (type == kExternalLink) return unimplemented("'{}': Not allowed: H5 file with ExternalLink", printable(link.name));
  if (type > kExternalLink) return unimplemented("'{}': user-defined link of type {}", printable(link.name), type);
  if (type != kHardLink) return cursor.error(format("link of type {}", type));
  link.header = cursor.address();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  return link;
}

}  // namespace shardwise::hdf5
