#include "codec/move.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "codec/move_kernels.h"
#include "codec/plain_move.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kLine = 64;
// Rows shorter than this are collected before they are streamed: stores past the caches pay for whole lines only.
constexpr std::uint64_t kLongRow = 512;

// Rows of more bytes than a register has and fewer than kLongRow, by moves that overlap at the end.
void copy_short_rows(const Rows& rows, const std::byte* source, std::byte* target) {
  constexpr std::uint64_t kStep = 16;
  const std::uint64_t last = rows.bytes - kStep;
  for (std::uint64_t row = 0; row < rows.count; ++row) {
    for (std::uint64_t i = 0; i < last; i += kStep) std::memcpy(target + i, source + i, kStep);
    std::memcpy(target + last, source + last, kStep);
    source += rows.source_step;
    target += rows.target_step;
  }
}

void copy_cached_rows(const Rows& rows, const std::byte* source, std::byte* target) {
  switch (rows.bytes) {
    case 1:
      return plain_rows<1>(rows, source, target);
    case 2:
      return plain_rows<2>(rows, source, target);
    case 4:
      return plain_rows<4>(rows, source, target);
    case 8:
      return plain_rows<8>(rows, source, target);
    case 16:
      return plain_rows<16>(rows, source, target);
    default:
      break;
  }
  if (rows.bytes > 16 && rows.bytes < kLongRow) return copy_short_rows(rows, source, target);
  for (std::uint64_t row = 0; row < rows.count; ++row) {
    std::memcpy(target, source, rows.bytes);
    source += rows.source_step;
    target += rows.target_step;
  }
}

// Rows whose targets lie one behind the other, by way of a block in the nearest cache.
void stream_joined_rows(Rows rows, const std::byte* source, std::byte* target) {
  alignas(kLine) std::array<std::byte, 8192> block;
  const StreamBytes stream = find_stream_bytes();
  const std::uint64_t most = block.size() / rows.bytes;
  for (std::uint64_t done = 0; done < rows.count; done += most) {
    Rows some = rows;
    some.count = std::min(most, rows.count - done);
    copy_cached_rows(some, source + static_cast<std::int64_t>(done) * rows.source_step, block.data());
    stream(block.data(), target + done * rows.bytes, some.count * rows.bytes);
  }
}

void stream_rows(const Rows& rows, const std::byte* source, std::byte* target) {
  const bool joined = rows.target_step == static_cast<std::int64_t>(rows.bytes);
  const bool fills_lines = (reinterpret_cast<std::uintptr_t>(target) | rows.bytes) % kLine == 0;
  if (joined && rows.bytes < 4096 && !(fills_lines && rows.bytes >= kLongRow)) {
    return stream_joined_rows(rows, source, target);
  }
  if (rows.bytes < kLine) return copy_cached_rows(rows, source, target);
  const StreamBytes stream = find_stream_bytes();
  for (std::uint64_t row = 0; row < rows.count; ++row) {
    stream(source, target, rows.bytes);
    source += rows.source_step;
    target += rows.target_step;
  }
}

}  // namespace

void copy_bytes(const std::byte* source, std::byte* target, std::uint64_t count, Stores stores) {
  if (stores == Stores::kStreaming) return find_stream_bytes()(source, target, count);
  std::memcpy(target, source, count);
}

void copy_rows(const Rows& rows, const std::byte* source, std::byte* target, Stores stores) {
  if (stores == Stores::kStreaming) return stream_rows(rows, source, target);
  copy_cached_rows(rows, source, target);
}

// Tiles pass through a block on the stack, so that the target is written in runs of several lines.
void transpose(const Matrix& m, const std::byte* source, std::byte* target, Stores stores) {
  constexpr std::uint64_t kRun = 256;  // bytes of a tile side by side in the target
  constexpr std::uint64_t kBeside = kMaxBlockBeside;
  alignas(kLine) std::array<std::byte, kRun * kBeside> tile;
  const TransposeBlock transpose_block = find_transpose_block(m.width);
  const std::uint64_t along = kRun / m.width;
  for (std::uint64_t b = 0; b < m.beside; b += kBeside) {
    const std::uint64_t height = std::min(kBeside, m.beside - b);
    for (std::uint64_t a = 0; a < m.along; a += along) {
      const std::uint64_t width = std::min(along, m.along - a);
      const std::byte* from = source + static_cast<std::int64_t>(a) * m.source_step + b * m.width;
      transpose_block({width, height, m.source_step, kRun, m.width}, from, tile.data());
      copy_rows({height, width * m.width, kRun, m.target_step}, tile.data(),
                target + static_cast<std::int64_t>(b) * m.target_step + a * m.width, stores);
    }
  }
}

}  // namespace shardwise
