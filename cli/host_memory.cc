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

std::optional<std::uint64_t> HostMemory::peak() const {
  const auto now = process_memory();
  if (!now.ok() || !baseline_) return std::nullopt;
  return now->peak_resident > *baseline_ ? now->peak_resident - *baseline_ : 0;
}

}  // namespace shardwise::cli
