// Moving elements as bytes: rows, and matrices to transpose. Chosen at run time for the processor.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shardwise {

// How targets are written. kStreaming goes past the caches, which spares reading a line before it is overwritten: right
// for much data that is not read soon. finish_streaming() must follow before another thread may look at it.
enum class Stores : std::uint8_t { kCached, kStreaming };

// Copies of fewer bytes than this stay in the caches.
inline constexpr std::uint64_t kStreamingBytes = std::uint64_t{32} << 10;
inline Stores stores_for(std::uint64_t bytes) { return bytes < kStreamingBytes ? Stores::kCached : Stores::kStreaming; }
void finish_streaming();

void copy_bytes(const std::byte* source, std::byte* target, std::uint64_t count, Stores stores);

// `count` runs of `bytes` bytes whose starts are `source_step` and `target_step` bytes apart.
struct Rows {
  std::uint64_t count;
  std::uint64_t bytes;
  std::int64_t source_step;
  std::int64_t target_step;
};
void copy_rows(const Rows& rows, const std::byte* source, std::byte* target, Stores stores);

// target[b * target_step + a * width] = source[a * source_step + b * width] for a < along and b < beside, bytes.
struct Matrix {
  std::uint64_t along;   // elements side by side in the target
  std::uint64_t beside;  // elements side by side in the source
  std::int64_t source_step;
  std::int64_t target_step;
  std::uint64_t width;
};
inline bool can_transpose(std::uint64_t width) {
  return width == 1 || width == 2 || width == 4 || width == 8 || width == 16;
}
// Precondition: can_transpose(matrix.width).
void transpose(const Matrix& matrix, const std::byte* source, std::byte* target, Stores stores);

}  // namespace shardwise
