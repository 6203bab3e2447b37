#include "checkpoint/hdf5/fill.h"

#include <algorithm>

#include "base/format.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::uint32_t kNoValue = 0xffffffffu;  // size of -1: undefined
constexpr std::uint8_t kNeverFill = 1;           // fill time: writers leave garbage, readers get it

Status take_value(Cursor& cursor, std::uint32_t size, std::uint32_t element_size, FillValue& fill) {
  const auto bytes = cursor.take(size);
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (size == 0) return {};
  if (size != element_size) return cursor.error(format("a value of {} bytes for elements of {}", size, element_size));
  const bool is_zero = std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  if (!is_zero) fill.bytes = as_text(bytes);
  return {};
}

Result<FillValue> read_version_1_or_2(Cursor& cursor, std::uint8_t version, std::uint32_t element_size) {
  cursor.skip(1);  // when space is allocated
  const std::uint8_t fill_time = cursor.u8();
  const std::uint8_t is_defined = cursor.u8();
  FillValue fill;
  fill.is_undefined = fill_time == kNeverFill;
  if (version == 1 || is_defined != 0) {
    const std::uint32_t size = cursor.u32();
    SHARDWISE_RETURN_IF_ERROR(cursor.status());
    if (size == kNoValue) {
      fill.is_undefined = true;
      return fill;
    }
    SHARDWISE_RETURN_IF_ERROR(take_value(cursor, size, element_size, fill));
  } else {
    fill.is_undefined = true;
  }
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  return fill;
}

Result<FillValue> read_version_3(Cursor& cursor, std::uint32_t element_size) {
  const std::uint8_t flags = cursor.u8();
  FillValue fill;
  const bool is_undefined = (flags & 0x10) != 0;
  const bool has_value = (flags & 0x20) != 0;
  if (is_undefined && has_value) return cursor.error("both undefined and with a value");
  fill.is_undefined = is_undefined || (flags >> 2 & 0x03) == kNeverFill;
  if (has_value) {
    const std::uint32_t size = cursor.u32();
    SHARDWISE_RETURN_IF_ERROR(take_value(cursor, size, element_size, fill));
  }
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  return fill;
}

}  // namespace

Result<FillValue> read_fill(const ObjectHeader& header, const FileFormat& format, std::uint32_t element_size) {
  SHARDWISE_ASSIGN_OR_RETURN(const Message* message, header.find(MessageType::kFill));
  SHARDWISE_ASSIGN_OR_RETURN(const Message* old, header.find(MessageType::kOldFill));
  FillValue fill;
  if (message != nullptr) {
    Cursor cursor = message->cursor(format);
    const std::uint8_t version = cursor.u8();
    SHARDWISE_RETURN_IF_ERROR(cursor.status());
    if (version == 1 || version == 2) return read_version_1_or_2(cursor, version, element_size);
    if (version == 3) return read_version_3(cursor, element_size);
    return cursor.error(shardwise::format("version {}", version));
  }
  if (old != nullptr) {
    Cursor cursor = old->cursor(format);
    const std::uint32_t size = cursor.u32();
    SHARDWISE_RETURN_IF_ERROR(take_value(cursor, size, element_size, fill));
  }
  return fill;
}

}  // namespace shardwise::hdf5
