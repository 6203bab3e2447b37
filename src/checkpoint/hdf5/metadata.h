// Bounded access to the metadata of an HDF5 file: many small reads, few of them reaching the storage.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/hdf5/cursor.h"
#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

// Some bytes of the file, owned.
struct Record {
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;

  Cursor cursor(const FileFormat& format, std::string_view what) const { return {bytes, offset, format, what}; }
};

// Thread-compatible. Borrows the file. Caches windows of it (4 MiB in all) and counts all work against a budget
// proportional to the file's size, so that metadata that refers to itself many times over ends in RESOURCE_EXHAUSTED
// instead of in hours or gigabytes.
class Metadata {
 public:
  explicit Metadata(const File& file);

  const File& file() const { return file_; }
  const FileFormat& format() const { return format_; }
  FileFormat& format() { return format_; }

  // Bytes [offset, offset + target.size()) of the file. Errors: DATA_LOSS when they reach beyond format().end.
  Status read(std::uint64_t offset, std::span<std::byte> target);
  // The same, owned. `what` names the record in errors. Records over 16 MiB are RESOURCE_EXHAUSTED.
  Result<Record> load(std::uint64_t offset, std::uint64_t size, std::string_view what);
  // The NUL-terminated text at `offset`, its NUL before `end`. Errors: DATA_LOSS; RESOURCE_EXHAUSTED over 64 KiB.
  Result<std::string> c_string(std::uint64_t offset, std::uint64_t end, std::string_view what);

  // Counts `bytes` of work or memory. Errors: RESOURCE_EXHAUSTED when the budget is spent.
  Status charge(std::uint64_t bytes);

 private:
  struct Window {
    std::uint64_t index = kUndefined;
    std::vector<std::byte> bytes;
  };

  Status fill(Window& window, std::uint64_t index);

  const File& file_;
  FileFormat format_;
  std::uint64_t budget_;
  std::uint64_t left_;
  std::array<Window, 64> windows_;
};

}  // namespace shardwise::hdf5
