#include "io/memory_file.h"

#include <algorithm>

#include "io/file_range.h"

namespace shardwise {
namespace {

std::vector<std::byte> to_bytes(std::string_view text) {
  const auto all = std::as_bytes(std::span(text));
  return {all.begin(), all.end()};
}

}  // namespace

MemoryFile::MemoryFile(std::string path, std::string_view bytes) : MemoryFile(std::move(path), to_bytes(bytes)) {}

Status MemoryFile::read(std::uint64_t offset, std::span<std::byte> target) const {
  SHARDWISE_RETURN_IF_ERROR(check_file_range(path_, bytes_.size(), offset, target.size()));
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), target.size(), target.begin());
  return {};
}

}  // namespace shardwise
