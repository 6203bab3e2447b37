// HostMemory: what this process needed.
#pragma once

#include <cstdint>
#include <optional>

namespace shardwise::cli {

// Made at the start of main(): resets the kernel's record of the process's highest memory use and notes the use so far.
// Value type.
class HostMemory {
 public:
  static HostMemory start();

  // Highest resident memory since start(), above what was resident then. nullopt where the kernel does not tell.
  std::optional<std::uint64_t> peak() const;

 private:
  std::optional<std::uint64_t> baseline_;
};

}  // namespace shardwise::cli
