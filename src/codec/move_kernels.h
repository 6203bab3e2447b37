// The parts of move.h that are written for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/move.h"

namespace shardwise {

// Copies past the caches: for targets that nobody reads soon. finish_streaming() must follow before another thread may
// look at them.
using StreamBytes = void (*)(const std::byte* source, std::byte* target, std::size_t count);
StreamBytes find_stream_bytes();

// transpose() of a matrix that fits the nearest cache; matrix.beside is at most kMaxBlockBeside.
inline constexpr std::uint64_t kMaxBlockBeside = 64;
using TransposeBlock = void (*)(const Matrix& matrix, const std::byte* source, std::byte* target);
TransposeBlock find_transpose_block(std::uint64_t width);

}  // namespace shardwise
