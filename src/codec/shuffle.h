// HDF5's shuffle filter, undone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace shardwise {

// `shuffled` holds first byte 0 of every element, then byte 1 of every element, and so on; bytes behind the last whole
// element stand unshuffled at the end. `target`, of the same size and apart from it, receives the elements.
void unshuffle(std::span<const std::byte> shuffled, std::uint64_t element_size, std::span<std::byte> target);

}  // namespace shardwise
