#include "checkpoint/hdf5/metadata.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/format.h"
#include "shardwise/bytes.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::uint64_t kWindow = 64_KiB;
constexpr std::uint64_t kMaxRecord = 16_MiB;
constexpr std::uint64_t kMaxString = 64_KiB;
// Least work that any read counts as, so that a million reads of a byte are not free.
constexpr std::uint64_t kLeastCharge = 16;
// Real files need less than one byte of metadata work per byte; the densest, scalars in one group, need about three.
constexpr std::uint64_t kBudgetPerByte = 8;
constexpr std::uint64_t kLeastBudget = 64_MiB;

}  // namespace

Metadata::Metadata(const File& file) : file_(file) {
  format_.end = file.size();
  const auto scaled = checked_mul(file.size(), kBudgetPerByte);
  budget_ = scaled ? checked_add(*scaled, kLeastBudget).value_or(kUndefined) : kUndefined;
  left_ = budget_;
}

Status Metadata::charge(std::uint64_t bytes) {
  if (bytes > left_) {
    left_ = 0;
    return resource_exhausted(
        "reading the metadata takes more than {} for a file of {} (objects that refer to each "
        "other many times over?)",
        format_bytes(budget_), format_bytes(file_.size()));
  }
  left_ -= bytes;
  return {};
}

Status Metadata::fill(Window& window, std::uint64_t index) {
  const std::uint64_t begin = index * kWindow;
  window.index = kUndefined;
  window.bytes.resize(std::min(kWindow, file_.size() - begin));
  SHARDWISE_RETURN_IF_ERROR(file_.read(begin, window.bytes));
  window.index = index;
  return {};
}

Status Metadata::read(std::uint64_t offset, std::span<std::byte> target) {
  const auto end = checked_add<std::uint64_t>(offset, target.size());
  if (!end || *end > format_.end) {
    return data_loss("bytes from {} on, {} of them, reach beyond the end at byte {} (truncated, or a corrupt address?)",
                     offset, target.size(), format_.end);
  }
  SHARDWISE_RETURN_IF_ERROR(charge(std::max<std::uint64_t>(target.size(), kLeastCharge)));
  while (!target.empty()) {
    const std::uint64_t index = offset / kWindow;
    Window& window = windows_[index % windows_.size()];
    if (window.index != index) SHARDWISE_RETURN_IF_ERROR(fill(window, index));
    const std::uint64_t skip = offset % kWindow;
    const std::uint64_t count = std::min<std::uint64_t>(target.size(), window.bytes.size() - skip);
    std::memcpy(target.data(), window.bytes.data() + skip, count);
    target = target.subspan(count);
    offset += count;
  }
  return {};
}

Result<Record> Metadata::load(std::uint64_t offset, std::uint64_t size, std::string_view what) {
  const auto end = checked_add(offset, size);
  if (!end || *end > format_.end) {
    return data_loss("{} at byte {}: its {} bytes reach beyond the end at byte {} (truncated, or a corrupt address?)",
                     what, offset, size, format_.end);
  }
  if (size > kMaxRecord) {
    return resource_exhausted("{} at byte {}: {} bytes, more than the {} that a record may have", what, offset, size,
                              format_bytes(kMaxRecord));
  }
  Record record{offset, std::vector<std::byte>(size)};
  SHARDWISE_RETURN_IF_ERROR(read(offset, record.bytes).with_context(what));
  return record;
}

Result<std::string> Metadata::c_string(std::uint64_t offset, std::uint64_t end, std::string_view what) {
  end = std::min(end, format_.end);
  std::string text;
  for (std::uint64_t step = 64; offset < end; step *= 2) {
    const std::size_t before = text.size();
    const std::uint64_t count = std::min(step, end - offset);
    text.resize(before + count);
    SHARDWISE_RETURN_IF_ERROR(read(offset, std::as_writable_bytes(std::span(text).subspan(before))).with_context(what));
    if (const std::size_t nul = text.find('\0', before); nul != std::string::npos) {
      text.resize(nul);
      return text;
    }
    if (text.size() > kMaxString) {
      return resource_exhausted("{} at byte {}: longer than {}", what, offset - before, format_bytes(kMaxString));
    }
    offset += count;
  }
  return data_loss("{}: no NUL before byte {}, where it must end (corrupt file?)", what, end);
}

}  // namespace shardwise::hdf5
