// Undoing what HDF5 filters did to a chunk: deflate, shuffle, fletcher32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shardwise/status.h"

namespace shardwise {

struct FilterStep {
  enum class Kind : std::uint8_t { kDeflate, kShuffle, kFletcher32 } kind = Kind::kDeflate;
  std::uint32_t element_size = 0;  // kShuffle
};

// Decodes one stored block into `target`, whose size is the decoded size. `steps` in the order of writing (undone last
// to first); bit i of `skipped` says that step i was not applied. `scratch` is caller-owned working memory of
// filter_scratch_bytes(); nothing else is allocated but zlib's state (under 64 KiB).
// Errors: DATA_LOSS for a stream that is corrupt, ends early, or inflates to another size than target's; and for a
// checksum that differs. Thread-safe.
Status decode_block(std::span<const FilterStep> steps, std::uint32_t skipped, std::span<const std::byte> stored,
                    std::span<std::byte> target, std::span<std::byte> scratch);
// Scratch that decode_block needs for a block of that many decoded bytes.
std::uint64_t filter_scratch_bytes(std::span<const FilterStep> steps, std::uint32_t skipped,
                                   std::uint64_t decoded_bytes);

// HDF5's Fletcher-32 checksum (over 16-bit big-endian-ordered sums as H5_checksum_fletcher32).
std::uint32_t fletcher32(std::span<const std::byte> bytes);

}  // namespace shardwise
