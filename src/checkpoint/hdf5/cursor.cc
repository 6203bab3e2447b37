#include "checkpoint/hdf5/cursor.h"

#include "base/checked.h"
#include "base/format.h"

namespace shardwise::hdf5 {

std::span<const std::byte> Cursor::take(std::uint64_t count) {
  if (!ok_ || count > remaining()) {
    ok_ = false;
    return {};
  }
  const auto taken = bytes_.subspan(at_, count);
  at_ += count;
  return taken;
}

std::uint64_t Cursor::uint(std::uint32_t width) {
  const auto bytes = take(width);
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

std::uint64_t Cursor::address() {
  const std::uint64_t raw = uint(format_->offset_size);
  if (raw == kUndefined >> (64 - 8 * format_->offset_size)) return kUndefined;
  const auto absolute = checked_add(raw, format_->base);
  if (!absolute || *absolute == kUndefined) {
    ok_ = false;
    return kUndefined;
  }
  return *absolute;
}

void Cursor::align(std::uint64_t alignment) {
  if (const std::uint64_t over = at_ % alignment; over != 0) skip(alignment - over);
}

std::string_view Cursor::c_string() {
  const std::string_view rest = ok_ ? as_text(bytes_.subspan(at_)) : std::string_view{};
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) {
    ok_ = false;
    return {};
  }
  at_ += end + 1;
  return rest.substr(0, end);
}

bool Cursor::signature(std::string_view signature) {
  if (!ok_ || remaining() < signature.size()) return false;
  if (as_text(bytes_.subspan(at_, signature.size())) != signature) return false;
  at_ += signature.size();
  return true;
}

Status Cursor::status() const {
  if (ok_) return {};
  return error(format("fields reach beyond its {} bytes, or an address wraps", bytes_.size()));
}

Status Cursor::error(std::string_view problem) const {
  return data_loss("{} at byte {}: {} (corrupt file?)", what_, offset_, problem);
}

}  // namespace shardwise::hdf5
