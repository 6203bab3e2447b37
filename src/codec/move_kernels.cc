// Vector code of move.h, compiled once per instruction set and chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/move_kernels.cc"
#include "codec/move_kernels.h"

#include <hwy/foreach_target.h>  // includes this file again for each target
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/dispatch.h"
#include "codec/plain_move.h"

// Per target.
#include "codec/exchange-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardwise::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors without a fixed size cannot be kept in arrays.
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

void stream_bytes(const std::byte* source, std::byte* target, std::size_t count) { std::memcpy(target, source, count); }

template <typename T>
void transpose_block(const Matrix& m, const std::byte* source, std::byte* target) {
  plain_transpose<sizeof(T)>(m, source, target);
}

#else

inline constexpr std::size_t kVectorBytes = HWY_MAX_BYTES < 32 ? 16 : 32;
inline constexpr std::size_t kLine = 64;

template <class D, std::size_t... kVector>
HWY_INLINE void stream_line(D d, const std::uint8_t* source, std::uint8_t* target, std::index_sequence<kVector...>) {
  (hn::Stream(hn::LoadU(d, source + kVector * kVectorBytes), d, target + kVector * kVectorBytes), ...);
}

// Fewer bytes than a line, by two moves that overlap.
template <std::size_t kBytes>
HWY_INLINE void copy_ends(const std::byte* source, std::byte* target, std::size_t count) {
  std::byte first[kBytes];
  std::byte last[kBytes];
  std::memcpy(first, source, kBytes);
  std::memcpy(last, source + count - kBytes, kBytes);
  std::memcpy(target, first, kBytes);
  std::memcpy(target + count - kBytes, last, kBytes);
}

HWY_INLINE void copy_part_of_line(const std::byte* source, std::byte* target, std::size_t count) {
  if (count >= 32) return copy_ends<32>(source, target, count);
  if (count >= 16) return copy_ends<16>(source, target, count);
  if (count >= 8) return copy_ends<8>(source, target, count);
  if (count >= 4) return copy_ends<4>(source, target, count);
  if (count >= 2) return copy_ends<2>(source, target, count);
  if (count == 1) *target = *source;
}

// Whole cache lines go out by stores that do not read the line first and leave no copy in the caches.
void stream_bytes(const std::byte* source, std::byte* target, std::size_t count) {
  const hn::CappedTag<std::uint8_t, kVectorBytes> d;
  const std::size_t head = std::min(count, (kLine - reinterpret_cast<std::uintptr_t>(target) % kLine) % kLine);
  if (head != 0) copy_part_of_line(source, target, head);
  const auto* from = reinterpret_cast<const std::uint8_t*>(source + head);
  auto* to = reinterpret_cast<std::uint8_t*>(target + head);
  std::size_t left = count - head;
  for (; left >= kLine; left -= kLine, from += kLine, to += kLine) {
    stream_line(d, from, to, std::make_index_sequence<kLine / kVectorBytes>());
  }
  if (left != 0) copy_part_of_line(reinterpret_cast<const std::byte*>(from), reinterpret_cast<std::byte*>(to), left);
}

// Loads 16 bytes of row `a`, and on wide targets of row `a + rows_apart` into the upper half.
template <class D>
HWY_INLINE hn::Vec<D> load_rows(D d, const std::byte* row, std::int64_t far) {
  using T = hn::TFromD<D>;
  if constexpr (kVectorBytes == 16) {
    (void)far;
    return hn::LoadU(d, reinterpret_cast<const T*>(row));
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, hn::LoadU(half, reinterpret_cast<const T*>(row + far)),
                       hn::LoadU(half, reinterpret_cast<const T*>(row)));
  }
}

template <typename T, std::size_t... kRow>
HWY_INLINE void transpose_rows(const std::byte* source, std::int64_t source_step, std::byte* target,
                               std::int64_t target_step, std::index_sequence<kRow...> all) {
  const hn::CappedTag<T, kVectorBytes / sizeof(T)> d;
  constexpr std::size_t kSide = sizeof...(kRow);
  const std::int64_t far = static_cast<std::int64_t>(kSide) * source_step;
  Vectors<hn::Vec<decltype(d)>, kSide> rows = {
      {load_rows(d, source + static_cast<std::int64_t>(kRow) * source_step, far)...}};
  rows = exchange_all(d, rows, all);
  (hn::StoreU(rows.at[kRow], d, reinterpret_cast<T*>(target + static_cast<std::int64_t>(kRow) * target_step)), ...);
}

template <typename T>
HWY_INLINE void transpose_square(const std::byte* source, std::int64_t source_step, std::byte* target,
                                 std::int64_t target_step) {
  transpose_rows<T>(source, source_step, target, target_step, std::make_index_sequence<16 / sizeof(T)>());
}

// Rows of a source whose step is a multiple of a page compete for few places in the caches, so each group of rows is
// first brought together, while the next group's are called for.
HWY_INLINE void gather_strip(const Matrix& m, std::uint64_t rows, std::size_t bytes, const std::byte* source,
                             std::byte* strip, std::size_t strip_step) {
  const hn::CappedTag<std::uint8_t, kVectorBytes> d;
  const std::int64_t ahead = static_cast<std::int64_t>(rows) * m.source_step;
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(source + ahead + i);
    std::size_t i = 0;
    for (; i + kVectorBytes <= bytes; i += kVectorBytes) {
      hn::StoreU(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(source + i)), d,
                 reinterpret_cast<std::uint8_t*>(strip + i));
    }
    if (i != bytes) std::memcpy(strip + i, source + i, bytes - i);
    source += m.source_step;
    strip += strip_step;
  }
}

// What does not fill a last square is done with the elements before it once more.
template <typename T>
void transpose_block(const Matrix& m, const std::byte* source, std::byte* target) {
  constexpr std::uint64_t kAlong = kVectorBytes / sizeof(T);
  constexpr std::uint64_t kBeside = 16 / sizeof(T);
  constexpr std::size_t kStep = kMaxBlockBeside * sizeof(T);
  if (m.along < kAlong || m.beside < kBeside) return plain_transpose<sizeof(T)>(m, source, target);
  alignas(kLine) std::byte strip[kAlong * kStep];
  for (std::uint64_t next = 0; next < m.along; next += kAlong) {
    const std::uint64_t a = std::min(next, m.along - kAlong);
    gather_strip(m, kAlong, m.beside * sizeof(T), source + static_cast<std::int64_t>(a) * m.source_step, strip, kStep);
    for (std::uint64_t beside = 0; beside < m.beside; beside += kBeside) {
      const std::uint64_t b = std::min(beside, m.beside - kBeside);
      transpose_square<T>(strip + b * sizeof(T), kStep,
                          target + static_cast<std::int64_t>(b) * m.target_step + a * sizeof(T), m.target_step);
    }
  }
}

#endif

void transpose8(const Matrix& m, const std::byte* source, std::byte* target) {
  transpose_block<std::uint8_t>(m, source, target);
}
void transpose16(const Matrix& m, const std::byte* source, std::byte* target) {
  transpose_block<std::uint16_t>(m, source, target);
}
void transpose32(const Matrix& m, const std::byte* source, std::byte* target) {
  transpose_block<std::uint32_t>(m, source, target);
}
void transpose64(const Matrix& m, const std::byte* source, std::byte* target) {
  transpose_block<std::uint64_t>(m, source, target);
}

}  // namespace
}  // namespace shardwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <hwy/cache_control.h>

namespace shardwise {

HWY_EXPORT(stream_bytes);
HWY_EXPORT(transpose8);
HWY_EXPORT(transpose16);
HWY_EXPORT(transpose32);
HWY_EXPORT(transpose64);

StreamBytes find_stream_bytes() {
  choose_target();
  return &HWY_DYNAMIC_DISPATCH(stream_bytes);
}

TransposeBlock find_transpose_block(std::uint64_t width) {
  choose_target();
  switch (width) {
    case 1:
      return &HWY_DYNAMIC_DISPATCH(transpose8);
    case 2:
      return &HWY_DYNAMIC_DISPATCH(transpose16);
    case 4:
      return &HWY_DYNAMIC_DISPATCH(transpose32);
    case 8:
      return &HWY_DYNAMIC_DISPATCH(transpose64);
    default:
      return plain_transpose<16>;
  }
}

void finish_streaming() { hwy::FlushStream(); }

}  // namespace shardwise
#endif
