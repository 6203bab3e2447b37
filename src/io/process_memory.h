// What the kernel says about this process's memory. For measuring whether the memory bound holds.
#pragma once

#include <cstdint>

#include "shardwise/status.h"

namespace shardwise {

// Bytes, from /proc/self/status. The kernel counts per core and sums lazily, so each may be a few hundred KiB off.
struct ProcessMemory {
  std::uint64_t resident = 0;       // VmRSS: anonymous + file + shared
  std::uint64_t peak_resident = 0;  // VmHWM: highest VmRSS since the start, or since reset_peak_resident()
  std::uint64_t anonymous = 0;      // RssAnon: heap, stacks, arenas, staging; what no file backs
  std::uint64_t file = 0;           // RssFile: mapped file pages, code among them; the kernel may drop them
  std::uint64_t shared = 0;         // RssShmem: shared memory and tmpfs
};

// Errors: UNIMPLEMENTED where there is no such /proc.
Result<ProcessMemory> process_memory();

// Makes peak_resident start again from what is resident now. Errors: UNIMPLEMENTED where the kernel does not let us.
Status reset_peak_resident();

}  // namespace shardwise
