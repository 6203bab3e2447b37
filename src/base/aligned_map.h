// Anonymous memory at aligned addresses, straight from the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shardwise {

enum class Commit : std::uint8_t {
  kAccounted,  // counts as memory that the process means to use
  kOnTouch,    // address space only; counts when touched (MAP_NORESERVE)
};

// Maps `size` bytes (rounded up to pages) of zeros, readable and writable, at a multiple of `alignment` (a power of
// two, at least a page). nullptr with errno set when the system refuses. Give it back with munmap(). Nothing is backed
// yet.
std::byte* map_aligned(std::uint64_t size, std::uint64_t alignment, Commit commit);

}  // namespace shardwise
