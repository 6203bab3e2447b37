// MemoryFile: a File over bytes in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shardwise/file.h"

namespace shardwise {

// Immutable; owns its bytes. `path` only names it in messages.
class MemoryFile final : public File {
 public:
  MemoryFile(std::string path, std::vector<std::byte> bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {}
  // From text, which may hold any bytes.
  MemoryFile(std::string path, std::string_view bytes);

  const std::string& path() const override { return path_; }
  std::uint64_t size() const override { return bytes_.size(); }
  Status read(std::uint64_t offset, std::span<std::byte> target) const override;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  const std::string path_;
  const std::vector<std::byte> bytes_;
};

}  // namespace shardwise
