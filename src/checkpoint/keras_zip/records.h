// The records of a zip archive, one function each. Numbers and names as in PKWARE's APPNOTE 6.3.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shardwise/status.h"

namespace shardwise::zip {

using Bytes = std::span<const std::byte>;

inline constexpr std::uint16_t kNone16 = 0xffff;  // look for the number in a ZIP64 record
inline constexpr std::uint32_t kNone32 = 0xffffffff;

// Little-endian unsigned integer at `at`; the caller has checked that it is there.
template <typename T>
T load(Bytes bytes, std::size_t at) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// End of central directory record, 22 bytes and a comment.
struct EndRecord {
  static constexpr std::size_t kBytes = 22;
  static constexpr std::uint32_t kSignature = 0x06054b50;
  std::uint32_t disk = 0;
  std::uint32_t directory_disk = 0;
  std::uint64_t entries_on_disk = 0;
  std::uint64_t entries = 0;
  std::uint64_t directory_size = 0;
  std::uint64_t directory_offset = 0;
};
EndRecord parse_end(Bytes record);

// ZIP64 end of central directory locator, 20 bytes in front of the end record.
struct Locator64 {
  static constexpr std::size_t kBytes = 20;
  static constexpr std::uint32_t kSignature = 0x07064b50;
  std::uint32_t disk = 0;
  std::uint64_t end_offset = 0;
  std::uint32_t disks = 0;
};
Locator64 parse_locator64(Bytes record);

// ZIP64 end of central directory record: 56 bytes and an area for extensions. Also its own size field.
struct EndRecord64 : EndRecord {
  static constexpr std::size_t kBytes = 56;
  static constexpr std::uint32_t kSignature = 0x06064b50;
  std::uint64_t record_size = 0;  // of what follows this field, 12 bytes into the record
};
EndRecord64 parse_end64(Bytes record);

// What a central entry and a local header both say.
struct Header {
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t size = 0;
  std::uint16_t name_length = 0;
  std::uint16_t extra_length = 0;
};
inline constexpr std::uint16_t kFlagEncrypted = 1;
inline constexpr std::uint16_t kFlagDescriptor = 1 << 3;  // sizes and CRC follow the data
inline constexpr std::uint16_t kFlagStrongEncryption = 1 << 6;
inline constexpr std::uint16_t kFlagUtf8 = 1 << 11;
inline constexpr std::uint16_t kFlagMasked = 1 << 13;  // encrypted central directory

// Central directory file header, 46 bytes, then name, extra and comment.
struct CentralEntry : Header {
  static constexpr std::size_t kBytes = 46;
  static constexpr std::uint32_t kSignature = 0x02014b50;
  std::uint16_t comment_length = 0;
  std::uint32_t disk = 0;
  std::uint64_t header_offset = 0;
};
CentralEntry parse_central(Bytes record);

// Local file header, 30 bytes, then name and extra.
struct LocalHeader : Header {
  static constexpr std::size_t kBytes = 30;
  static constexpr std::uint32_t kSignature = 0x04034b50;
};
LocalHeader parse_local(Bytes record);

// The ZIP64 fields of an extra area, in their order; none when there is no such field.
struct Extra64 {
  static constexpr std::uint16_t kId = 1;
  std::optional<Bytes> fields;
};
// Errors: DATA_LOSS for fields that reach beyond the area, and for two ZIP64 fields.
Result<Extra64> parse_extra(Bytes extra);

// Replaces numbers that are kNone32 (a disk that is kNone16) by those of the ZIP64 field. Errors: DATA_LOSS when it
// lacks one.
Status widen(const Extra64& extra, CentralEntry& entry);
Status widen(const Extra64& extra, LocalHeader& header);

// True for well-formed UTF-8: no overlong forms, surrogates, or code points over U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace shardwise::zip
