// Random bits of up to one block of elements: by run-time dispatch, the same on every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shardwise/seed.h"

namespace shardwise {

// Elements that are made at a time: their bits stay in the innermost cache.
inline constexpr std::size_t kRandomBlock = 1024;

// Row-major indices of some elements: first, first + 1, ... when `high` is null; else high[i] * 2^32 + low[i].
struct Counters {
  std::uint64_t first = 0;
  const std::uint32_t* high = nullptr;
  const std::uint32_t* low = nullptr;
  std::size_t count = 0;  // at most kRandomBlock
};

// The stream's 32 or 64 bits of each of the elements.
void make_bits32(RandomKey key, const Counters& counters, std::uint32_t* out);
void make_bits64(RandomKey key, const Counters& counters, std::uint64_t* out);

}  // namespace shardwise
