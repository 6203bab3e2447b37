#include "io/file_range.h"

#include "base/checked.h"
#include "base/format.h"
#include "shardwise/bytes.h"

namespace shardwise {

Status check_file_range(std::string_view path, std::uint64_t size, std::uint64_t offset, std::uint64_t count) {
  if (offset <= size && count <= size - offset) return {};
  return ends_early(path, size, offset, count);
}

Status ends_early(std::string_view path, std::uint64_t end, std::uint64_t offset, std::uint64_t count) {
  const auto last = checked_add(offset, count);
  if (!last) return data_loss("{}: {} bytes at offset {} lie beyond any file", printable(path), count, offset);
  return data_loss("{}: bytes {} are wanted but the file ends at {} (truncated, or changed while it was read?)",
                   printable(path), to_string(ByteRange{offset, *last}), end);
}

}  // namespace shardwise
