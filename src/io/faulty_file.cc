#include "io/faulty_file.h"

#include <thread>

#include "base/format.h"
#include "io/file_range.h"

namespace shardwise {

Status FaultyFile::read(std::uint64_t offset, std::span<std::byte> target) const {
  const std::uint64_t number = reads_.fetch_add(1);
  if (faults_.on_read) faults_.on_read(number);
  if (faults_.delay.count() > 0) std::this_thread::sleep_for(faults_.delay);
  SHARDWISE_RETURN_IF_ERROR(check_file_range(path(), size(), offset, target.size()));
  const ByteRange range{offset, offset + target.size()};
  if (number >= faults_.shrinks_at && range.end > faults_.shrunk_size) {
    return ends_early(path(), faults_.shrunk_size, offset, target.size());
  }
  if (faults_.io_error && range.begin < faults_.io_error->end && faults_.io_error->begin < range.end) {
    return unavailable("{}: cannot read bytes {}: Input/output error (injected at {})", printable(path()),
                       to_string(range), to_string(*faults_.io_error));
  }
  SHARDWISE_RETURN_IF_ERROR(file_->read(offset, target));
  if (faults_.flipped_byte && range.begin <= *faults_.flipped_byte && *faults_.flipped_byte < range.end) {
    target[*faults_.flipped_byte - offset] ^= std::byte{0xff};
  }
  bytes_read_ += target.size();
  return {};
}

}  // namespace shardwise
