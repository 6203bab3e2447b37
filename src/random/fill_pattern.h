// Filling memory with a repeated element, as fast as memory takes it.
#pragma once

#include <array>
#include <cstddef>

namespace shardwise {

// Bytes that repeat every 1, 2, 4, 8 or 16.
using FillPattern = std::array<std::byte, 256>;

// `out` needs no alignment. Large stretches go around the caches, which spares reading what is overwritten.
void fill_pattern(const FillPattern& pattern, std::size_t bytes, std::byte* out);

}  // namespace shardwise
