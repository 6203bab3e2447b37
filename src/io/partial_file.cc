#include "io/partial_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/format.h"

namespace shardwise {

PartialFile::PartialFile(std::string path)
    : path_(std::move(path)), temporary_(format("{}.{}.partial", path_, ::getpid())) {}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

PartialFile::~PartialFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

Status PartialFile::create(std::uint64_t size) {
  ::unlink(temporary_.c_str());
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor_ < 0) return failure("create");
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return failure("size");
  return Status();
}

Status PartialFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failure("write");
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return Status();
}

Status PartialFile::publish() {
  if (::close(std::exchange(descriptor_, -1)) != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const Status status = failure("finish");
    ::unlink(temporary_.c_str());
    return status;
  }
  return Status();
}

Status PartialFile::failure(const char* what) const {
  const int error = errno;
  std::string text = format("cannot {} {}: {}", what, path_, std::strerror(error));
  return error == EACCES || error == EPERM ? permission_denied(std::move(text)) : unavailable(std::move(text));
}

}  // namespace shardwise
