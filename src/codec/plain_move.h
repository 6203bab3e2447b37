// Moves of elements of a fixed width, without vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "codec/move.h"

namespace shardwise {

template <std::size_t kWidth>
void plain_rows(const Rows& rows, const std::byte* source, std::byte* target) {
  for (std::uint64_t row = 0; row < rows.count; ++row) {
    std::memcpy(target, source, kWidth);
    source += rows.source_step;
    target += rows.target_step;
  }
}

template <std::size_t kWidth>
void plain_transpose(const Matrix& m, const std::byte* source, std::byte* target) {
  const Rows column{m.along, kWidth, m.source_step, kWidth};
  for (std::uint64_t b = 0; b < m.beside; ++b) {
    plain_rows<kWidth>(column, source, target);
    source += kWidth;
    target += m.target_step;
  }
}

}  // namespace shardwise
