// HostMemory: what this process needed beside its devices' arenas.
#pragma once

#include <cstdint>
#include <optional>

namespace shardwise::cli {

// Made at the start of main(): resets the kernel's record of the process's highest memory use and notes the use so far.
// Value type.
class HostMemory {
 public:
  static HostMemory start();

  // Highest resident memory since start(), above what was resident then, less `arena_bytes`; never below 0. nullopt
  // where the kernel does not tell.
  std::optional<std::uint64_t> peak_beside(std::uint64_t arena_bytes) const;

 private:
  std::optional<std::uint64_t> baseline_;
};

}  // namespace shardwise::cli
