// Moving elements as bytes: rows, and matrices to transpose. Chosen at run time for the processor.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shardwise {

void copy_bytes(std::byte* target, const std::byte* source, std::uint64_t count);

// `count` runs of `bytes` bytes whose starts are `source_step` and `target_step` bytes apart.
struct Rows {
  std::uint64_t count;
  std::uint64_t bytes;
  std::int64_t source_step;
  std::int64_t target_step;
};
void copy_rows(const Rows& rows, const std::byte* source, std::byte* target);

// target[b * target_step + a * width] = source[a * source_step + b * width] for a < along and b < beside, bytes.
struct Matrix {
  std::uint64_t along;   // elements side by side in the target
  std::uint64_t beside;  // elements side by side in the source
  std::int64_t source_step;
  std::int64_t target_step;
  std::uint64_t width;
};
bool can_transpose(std::uint64_t width);
// Precondition: can_transpose(matrix.width).
void transpose(const Matrix& matrix, const std::byte* source, std::byte* target);

}  // namespace shardwise
