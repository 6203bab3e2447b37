#include "codec/move.h"

#include <algorithm>
#include <cstring>

namespace shardwise {
namespace {

template <std::size_t kBytes>
void copy_rows_of(const Rows& rows, const std::byte* source, std::byte* target) {
  for (std::uint64_t row = 0; row < rows.count; ++row) {
    std::memcpy(target, source, kBytes);
    source += rows.source_step;
    target += rows.target_step;
  }
}

template <std::size_t kWidth>
void transpose_of(const Matrix& m, const std::byte* source, std::byte* target) {
  constexpr std::uint64_t kSide = 16;
  for (std::uint64_t a = 0; a < m.along; a += kSide) {
    for (std::uint64_t b = 0; b < m.beside; b += kSide) {
      for (std::uint64_t j = b; j < std::min(b + kSide, m.beside); ++j) {
        std::byte* to = target + static_cast<std::int64_t>(j) * m.target_step + a * kWidth;
        const std::byte* from = source + static_cast<std::int64_t>(a) * m.source_step + j * kWidth;
        const std::uint64_t count = std::min(kSide, m.along - a);
        copy_rows_of<kWidth>({count, kWidth, m.source_step, kWidth}, from, to);
      }
    }
  }
}

}  // namespace

void copy_bytes(std::byte* target, const std::byte* source, std::uint64_t count) { std::memcpy(target, source, count); }

void copy_rows(const Rows& rows, const std::byte* source, std::byte* target) {
  switch (rows.bytes) {
    case 1:
      return copy_rows_of<1>(rows, source, target);
    case 2:
      return copy_rows_of<2>(rows, source, target);
    case 4:
      return copy_rows_of<4>(rows, source, target);
    case 8:
      return copy_rows_of<8>(rows, source, target);
    case 16:
      return copy_rows_of<16>(rows, source, target);
    default:
      break;
  }
  for (std::uint64_t row = 0; row < rows.count; ++row) {
    std::memcpy(target, source, rows.bytes);
    source += rows.source_step;
    target += rows.target_step;
  }
}

bool can_transpose(std::uint64_t width) { return width == 1 || width == 2 || width == 4 || width == 8 || width == 16; }

void transpose(const Matrix& matrix, const std::byte* source, std::byte* target) {
  switch (matrix.width) {
    case 1:
      return transpose_of<1>(matrix, source, target);
    case 2:
      return transpose_of<2>(matrix, source, target);
    case 4:
      return transpose_of<4>(matrix, source, target);
    case 8:
      return transpose_of<8>(matrix, source, target);
    default:
      return transpose_of<16>(matrix, source, target);
  }
}

}  // namespace shardwise
