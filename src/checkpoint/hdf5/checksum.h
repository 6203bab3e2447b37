// The checksum of version 2 metadata: Bob Jenkins's lookup3 hash (hashlittle, initial value 0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "checkpoint/hdf5/cursor.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

std::uint32_t lookup3(std::span<const std::byte> bytes);

// Checks that the last four bytes of `record` are the checksum of those before. Errors: DATA_LOSS naming `what`.
Status check_checksum(std::span<const std::byte> record, std::uint64_t offset, std::string_view what);

}  // namespace shardwise::hdf5
