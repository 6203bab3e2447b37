// File: random-access bytes that checkpoints are read from. The seam for other storages and for fault injection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "shardwise/status.h"

namespace shardwise {

// Immutable bytes of a known size. Thread-safe: reads may run at the same time.
class File {
 public:
  virtual ~File() = default;
  virtual const std::string& path() const = 0;
  virtual std::uint64_t size() const = 0;

  // Fills `target` with bytes [offset, offset + target.size()); short reads and EINTR are retried inside.
  // Errors: DATA_LOSS when the range ends beyond the file, or the file became shorter; UNAVAILABLE for an I/O error.
  virtual Status read(std::uint64_t offset, std::span<std::byte> target) const = 0;

  // A descriptor whose bytes [0, size()) are this file's, for asynchronous, direct and residency-probing I/O; -1 when
  // there is none. Owned by the file.
  virtual int descriptor() const { return -1; }
};

// A regular file opened read-only (symlinks followed). Errors: NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT for a
// folder or a special file, UNAVAILABLE.
Result<std::shared_ptr<const File>> open_file(const std::string& path);

}  // namespace shardwise
