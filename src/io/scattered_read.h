// One stretch of a file read into many places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise {

// Fills `targets` one after the other with the bytes of `file` from `offset` on: preadv(2) where the file has a
// descriptor, so that the kernel copies from the page cache straight to where each run belongs; else a read per target.
// Errors: as File::read. Thread-safe.
Status read_scattered(const File& file, std::uint64_t offset, std::span<const std::span<std::byte>> targets);

}  // namespace shardwise
