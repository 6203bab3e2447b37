#include "cli/page_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "io/residency.h"

namespace shardwise::cli {

std::uint64_t total_bytes(const std::vector<FileRange>& ranges) {
  std::uint64_t sum = 0;
  for (const FileRange& part : ranges) sum += part.range.size();
  return sum;
}

void drop_from_cache(const std::vector<FileRange>& ranges) {
  for (const FileRange& part : ranges) {
    const int descriptor = part.file->descriptor();
    if (descriptor < 0) continue;
    ::fdatasync(descriptor);
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  }
}

Status fill_cache(const std::vector<FileRange>& ranges) {
  std::vector<std::byte> buffer(4_MiB);
  for (const FileRange& part : ranges) {
    for (std::uint64_t at = part.range.begin; at < part.range.end; at += buffer.size()) {
      const std::uint64_t count = std::min<std::uint64_t>(buffer.size(), part.range.end - at);
      SHARDWISE_RETURN_IF_ERROR(part.file->read(at, std::span(buffer).first(count)));
    }
  }
  return {};
}

std::optional<double> resident(const std::vector<FileRange>& ranges) {
  double bytes = 0;
  for (const FileRange& part : ranges) {
    const auto share = resident_share(part.file->descriptor(), part.range);
    if (!share) return std::nullopt;
    bytes += *share * static_cast<double>(part.range.size());
  }
  const std::uint64_t total = total_bytes(ranges);
  return total == 0 ? 1.0 : bytes / static_cast<double>(total);
}

}  // namespace shardwise::cli
