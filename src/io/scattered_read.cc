#include "io/scattered_read.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/format.h"
#include "io/file_range.h"
#include "io/system_error.h"
#include "shardwise/bytes.h"

namespace shardwise {
namespace {

constexpr std::size_t kVectors = 1024;  // IOV_MAX of Linux

// Leaves out the first `done` bytes of the vectors.
std::span<iovec> skip_bytes(std::span<iovec> vectors, std::size_t done) {
  while (!vectors.empty() && done >= vectors.front().iov_len) {
    done -= vectors.front().iov_len;
    vectors = vectors.subspan(1);
  }
  if (!vectors.empty()) {
    vectors.front().iov_base = static_cast<std::byte*>(vectors.front().iov_base) + done;
    vectors.front().iov_len -= done;
  }
  return vectors;
}

Status fill(const File& file, std::uint64_t& offset, std::span<iovec> vectors) {
  while (!(vectors = skip_bytes(vectors, 0)).empty()) {
    const ssize_t got =
        ::preadv(file.descriptor(), vectors.data(), static_cast<int>(vectors.size()), static_cast<off_t>(offset));
    if (got > 0) {
      offset += static_cast<std::uint64_t>(got);
      vectors = skip_bytes(vectors, static_cast<std::size_t>(got));
    } else if (got == 0) {
      return ends_early(file.path(), offset, offset, vectors.front().iov_len);
    } else if (errno != EINTR) {
      return unavailable("{}: cannot read at byte {}: {}", printable(file.path()), offset, errno_text(errno));
    }
  }
  return {};
}

}  // namespace

Status read_scattered(const File& file, std::uint64_t offset, std::span<const std::span<std::byte>> targets) {
  if (file.descriptor() < 0) {
    for (const std::span<std::byte> target : targets) {
      SHARDWISE_RETURN_IF_ERROR(file.read(offset, target));
      offset += target.size();
    }
    return {};
  }
  std::uint64_t total = 0;
  for (const std::span<std::byte> target : targets) total += target.size();
  SHARDWISE_RETURN_IF_ERROR(check_file_range(file.path(), file.size(), offset, total));
  std::array<iovec, kVectors> vectors;
  for (std::size_t done = 0; done < targets.size(); done += kVectors) {
    const auto some = targets.subspan(done, std::min(kVectors, targets.size() - done));
    for (std::size_t i = 0; i < some.size(); ++i) vectors[i] = {some[i].data(), some[i].size()};
    SHARDWISE_RETURN_IF_ERROR(fill(file, offset, std::span(vectors).first(some.size())));
  }
  return {};
}

}  // namespace shardwise
