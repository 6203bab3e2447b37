// Asynchronous direct reads through io_uring and O_DIRECT: for files that are not in the page cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise {

// O_DIRECT wants offsets, lengths and addresses in multiples of this (4096 satisfies every device seen).
inline constexpr std::uint64_t kDirectAlignment = 4096;

// A second descriptor of an open file, for O_DIRECT. Errors of open(): UNIMPLEMENTED when the file has no descriptor,
// or its file system refuses O_DIRECT (tmpfs, overlay, some network ones). Checked by one small read. Thread-safe.
class DirectFile {
 public:
  static Result<std::shared_ptr<const DirectFile>> open(const File& file);
  virtual ~DirectFile() = default;
  virtual int descriptor() const = 0;
  virtual std::uint64_t size() const = 0;
  virtual const std::string& path() const = 0;
};

// One thread's queue of reads. Thread-compatible: used by one thread. The destructor waits for reads in flight, so
// their targets stay valid as long as the Ring is destroyed before them.
class Ring {
 public:
  // Errors: UNIMPLEMENTED when the kernel or a sandbox has no io_uring.
  static Result<std::unique_ptr<Ring>> create(unsigned depth);
  virtual ~Ring() = default;

  // Starts reading [offset, offset + target.size()) into `target`: all three multiples of kDirectAlignment. The range
  // may reach beyond the end of the file; only bytes up to its size are promised then. `file` must outlive the
  // completion. Short reads, EINTR and EAGAIN are continued inside. Precondition: in_flight() < depth.
  virtual Status submit(const DirectFile& file, std::uint64_t offset, std::span<std::byte> target,
                        std::uint64_t tag) = 0;

  struct Completion {
    std::uint64_t tag = 0;
    Status status;  // DATA_LOSS when the file ended early; UNAVAILABLE for an I/O error
  };
  // Blocks until some read has finished. Precondition: in_flight() > 0.
  virtual Result<Completion> wait() = 0;
  // A read that has finished by now, or nothing. Never blocks.
  virtual Result<std::optional<Completion>> poll() = 0;
  virtual unsigned in_flight() const = 0;
};

}  // namespace shardwise
