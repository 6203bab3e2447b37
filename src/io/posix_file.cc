// open_file(): regular files through pread(2).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>

#include "base/format.h"
#include "io/descriptor.h"
#include "io/file_range.h"
#include "io/system_error.h"
#include "shardwise/bytes.h"
#include "shardwise/file.h"

namespace shardwise {
namespace {

// Linux moves at most 2 GiB - 4 KiB per call; whole GiBs keep the pieces aligned.
constexpr std::uint64_t kMaxRead = 1_GiB;

// Immutable; owns its descriptor. `size` is that of the moment of opening.
class PosixFile final : public File {
 public:
  PosixFile(std::string path, std::uint64_t size, Descriptor descriptor)
      : path_(std::move(path)), size_(size), descriptor_(std::move(descriptor)) {}

  const std::string& path() const override { return path_; }
  std::uint64_t size() const override { return size_; }
  int descriptor() const override { return descriptor_.get(); }

  Status read(std::uint64_t offset, std::span<std::byte> target) const override {
    SHARDWISE_RETURN_IF_ERROR(check_file_range(path_, size_, offset, target.size()));
    std::uint64_t done = 0;
    while (done < target.size()) {
      const std::uint64_t count = std::min(target.size() - done, kMaxRead);
      const ssize_t got = ::pread(descriptor_.get(), target.data() + done, count, static_cast<off_t>(offset + done));
      if (got > 0) {
        done += static_cast<std::uint64_t>(got);
      } else if (got == 0) {
        return ends_early(path_, offset + done, offset, target.size());
      } else if (errno != EINTR) {
        return read_failed(errno, offset + done, count);
      }
    }
    return {};
  }

 private:
  Status read_failed(int error, std::uint64_t offset, std::uint64_t count) const {
    return unavailable("{}: cannot read bytes {}: {}", printable(path_), to_string(ByteRange{offset, offset + count}),
                       errno_text(error));
  }

  const std::string path_;
  const std::uint64_t size_;
  const Descriptor descriptor_;
};

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

Result<std::shared_ptr<const File>> open_file(const std::string& path) {
  if (path.find('\0') != std::string::npos) return invalid_argument("{}: a path cannot hold NUL", printable(path));
  // O_NONBLOCK: opening a pipe without a writer must not hang. It is taken off again, as io_uring would heed it.
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!descriptor.valid()) return system_error(errno, path, "open it");
  struct stat info = {};
  if (::fstat(descriptor.get(), &info) != 0) return system_error(errno, path, "stat it");
  if (!S_ISREG(info.st_mode)) {
    return invalid_argument("{}: is {}, not a regular file", printable(path), kind_of(info.st_mode));
  }
  if (::fcntl(descriptor.get(), F_SETFL, 0) != 0) return system_error(errno, path, "set it to blocking reads");
  return std::shared_ptr<const File>(
      std::make_shared<PosixFile>(path, static_cast<std::uint64_t>(info.st_size), std::move(descriptor)));
}

}  // namespace shardwise
