// PartialFile: a file that appears under its name once it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "shardwise/status.h"

namespace shardwise {

// Written under a temporary name beside its own, and removed unless publish() renamed it. Movable. Thread-compatible;
// write() may be called from several threads.
class PartialFile {
 public:
  explicit PartialFile(std::string path);
  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();

  const std::string& path() const { return path_; }

  // Makes a file of `size` bytes. Errors: UNAVAILABLE, PERMISSION_DENIED.
  Status create(std::uint64_t size);
  Status write(std::uint64_t offset, std::span<const std::byte> bytes);
  // Gives the file its name; a file that had it is replaced.
  Status publish();

 private:
  Status failure(const char* what) const;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

}  // namespace shardwise
