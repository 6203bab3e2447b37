#include "cli/host_memory.h"

#include "io/process_memory.h"

namespace shardwise::cli {

HostMemory HostMemory::start() {
  HostMemory memory;
  // Where the peak cannot be reset it still is one: at least as high as what start() would have seen.
  static_cast<void>(reset_peak_resident());
  if (const auto now = process_memory(); now.ok()) memory.baseline_ = now->resident;
  return memory;
}

std::optional<std::uint64_t> HostMemory::peak_beside(std::uint64_t arena_bytes) const {
  const auto now = process_memory();
  if (!now.ok() || !baseline_) return std::nullopt;
  const std::uint64_t beside = *baseline_ + arena_bytes;
  return now->peak_resident > beside ? now->peak_resident - beside : 0;
}

}  // namespace shardwise::cli
