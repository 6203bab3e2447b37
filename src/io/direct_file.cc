// DirectFile: a second descriptor of an open file, for O_DIRECT.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/checked.h"
#include "base/format.h"
#include "io/descriptor.h"
#include "io/memory.h"
#include "io/ring.h"
#include "io/system_error.h"

namespace shardwise {
namespace {

class OpenDirectFile final : public DirectFile {
 public:
  OpenDirectFile(std::string path, std::uint64_t size, Descriptor descriptor)
      : path_(std::move(path)), size_(size), descriptor_(std::move(descriptor)) {}
  int descriptor() const override { return descriptor_.get(); }
  std::uint64_t size() const override { return size_; }
  const std::string& path() const override { return path_; }

 private:
  const std::string path_;
  const std::uint64_t size_;
  const Descriptor descriptor_;
};

bool same_file(int a, int b) {
  struct stat info_a = {};
  struct stat info_b = {};
  return ::fstat(a, &info_a) == 0 && ::fstat(b, &info_b) == 0 && info_a.st_dev == info_b.st_dev &&
         info_a.st_ino == info_b.st_ino;
}

// Opens what `descriptor` has open once more, through /proc, which also finds files that were renamed or removed; by
// its path where there is no /proc.
Result<Descriptor> reopen_direct(int descriptor, const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_DIRECT;
  Descriptor direct(::open(format("/proc/self/fd/{}", descriptor).c_str(), kFlags));
  if (!direct.valid() && errno == ENOENT) direct = Descriptor(::open(path.c_str(), kFlags | O_NONBLOCK | O_NOCTTY));
  if (!direct.valid() && (errno == EMFILE || errno == ENFILE))
    return system_error(errno, path, "open it for direct I/O");
  if (!direct.valid()) {
    return unimplemented("{}: no direct I/O: its file system refuses O_DIRECT ({})", printable(path),
                         errno_text(errno));
  }
  if (!same_file(direct.get(), descriptor)) {
    return unimplemented("{}: no direct I/O: the path names another file by now", printable(path));
  }
  return direct;
}

// Reads the last block, the one that tells whether a file system can do what the Ring asks: an aligned read that
// reaches beyond the end of the file.
Status probe(int descriptor, const std::string& path, std::uint64_t size) {
  SHARDWISE_ASSIGN_OR_RETURN(HugeBuffer block, HugeBuffer::create(kDirectAlignment));
  const std::uint64_t offset = round_down(size == 0 ? 0 : size - 1, kDirectAlignment);
  ssize_t got = 0;
  do {
    got = ::pread(descriptor, block.data(), kDirectAlignment, static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return unimplemented("{}: no direct I/O: a read of the {} bytes at {} fails: {}", printable(path), kDirectAlignment,
                         offset, errno_text(errno));
  }
  if (static_cast<std::uint64_t>(got) < size - offset) {
    return unimplemented("{}: no direct I/O: a read of the {} bytes at {} gives {} of {}", printable(path),
                         kDirectAlignment, offset, got, size - offset);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const DirectFile>> DirectFile::open(const File& file) {
  if (file.descriptor() < 0) return unimplemented("{}: no direct I/O: it has no descriptor", printable(file.path()));
  SHARDWISE_ASSIGN_OR_RETURN(Descriptor direct, reopen_direct(file.descriptor(), file.path()));
  SHARDWISE_RETURN_IF_ERROR(probe(direct.get(), file.path(), file.size()));
  return std::shared_ptr<const DirectFile>(
      std::make_shared<OpenDirectFile>(file.path(), file.size(), std::move(direct)));
}

}  // namespace shardwise
