// Vector code of move.h, compiled once per instruction set and chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/move_kernels.cc"
#include "codec/move_kernels.h"

#include <hwy/foreach_target.h>  // includes this file again for each target
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "codec/plain_move.h"

HWY_BEFORE_NAMESPACE();
namespace shardwise::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void stream_bytes(const std::byte* source, std::byte* target, std::size_t count) { std::memcpy(target, source, count); }

template <typename T>
void transpose_block(const Matrix& m, const std::byte* source, std::byte* target) {
  plain_transpose<sizeof(T)>(m, source, target);
}

#else

#if HWY_HAVE_SCALABLE
inline constexpr std::size_t kVectorBytes = 16;
#else
inline constexpr std::size_t kVectorBytes = HWY_MAX_BYTES < 32 ? 16 : 32;
#endif
inline constexpr std::size_t kLine = 64;

// Whole cache lines go out by stores that do not read the line first and leave no copy in the caches.
void stream_bytes(const std::byte* source, std::byte* target, std::size_t count) {
  const hn::CappedTag<std::uint8_t, kVectorBytes> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kVectors = kLine / kVectorBytes;
  const std::size_t head = std::min(count, (kLine - reinterpret_cast<std::uintptr_t>(target) % kLine) % kLine);
  if (head != 0) std::memcpy(target, source, head);
  const auto* from = reinterpret_cast<const std::uint8_t*>(source + head);
  auto* to = reinterpret_cast<std::uint8_t*>(target + head);
  std::size_t left = count - head;
  for (; left >= kLine; left -= kLine, from += kLine, to += kLine) {
    V line[kVectors];
    for (std::size_t i = 0; i < kVectors; ++i) line[i] = hn::LoadU(d, from + i * kVectorBytes);
    for (std::size_t i = 0; i < kVectors; ++i) hn::Stream(line[i], d, to + i * kVectorBytes);
  }
  if (left != 0) std::memcpy(to, from, left);
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

// With n elements in 16 bytes: log2(n) rounds, each pairing row i with row i + n/2, exchange the bits of an element's
// address that count rows with those that count columns.
template <typename T>
HWY_INLINE void transpose_square(const std::byte* source, std::int64_t source_step, std::byte* target,
                                 std::int64_t target_step) {
  const hn::CappedTag<T, kVectorBytes / sizeof(T)> d;
  constexpr std::size_t kSide = 16 / sizeof(T);
  hn::Vec<decltype(d)> rows[kSide];
  hn::Vec<decltype(d)> next[kSide];
  const std::int64_t far = static_cast<std::int64_t>(kSide) * source_step;
  for (std::size_t i = 0; i < kSide; ++i) {
    rows[i] = load_rows(d, source + static_cast<std::int64_t>(i) * source_step, far);
  }
  for (std::size_t round = 1; round < kSide; round *= 2) {
    for (std::size_t i = 0; i < kSide / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + kSide / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + kSide / 2]);
    }
    for (std::size_t i = 0; i < kSide; ++i) rows[i] = next[i];
  }
  for (std::size_t i = 0; i < kSide; ++i) {
    hn::StoreU(rows[i], d, reinterpret_cast<T*>(target + static_cast<std::int64_t>(i) * target_step));
  }
}

template <typename T>
void transpose_block(const Matrix& m, const std::byte* source, std::byte* target) {
  constexpr std::uint64_t kAlong = kVectorBytes / sizeof(T);
  constexpr std::uint64_t kBeside = 16 / sizeof(T);
  const std::uint64_t along = m.along - m.along % kAlong;
  const std::uint64_t beside = m.beside - m.beside % kBeside;
  const auto at = [&](std::uint64_t a, std::uint64_t b) {
    return source + static_cast<std::int64_t>(a) * m.source_step + b * sizeof(T);
  };
  const auto to = [&](std::uint64_t a, std::uint64_t b) {
    return target + static_cast<std::int64_t>(b) * m.target_step + a * sizeof(T);
  };
  for (std::uint64_t a = 0; a < along; a += kAlong) {
    for (std::uint64_t b = 0; b < beside; b += kBeside) {
      transpose_square<T>(at(a, b), m.source_step, to(a, b), m.target_step);
    }
  }
  if (beside != m.beside) {
    plain_transpose<sizeof(T)>({along, m.beside - beside, m.source_step, m.target_step, sizeof(T)}, at(0, beside),
                               to(0, beside));
  }
  if (along != m.along) {
    plain_transpose<sizeof(T)>({m.along - along, m.beside, m.source_step, m.target_step, sizeof(T)}, at(along, 0),
                               to(along, 0));
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

StreamBytes find_stream_bytes() { return &HWY_DYNAMIC_DISPATCH(stream_bytes); }

TransposeBlock find_transpose_block(std::uint64_t width) {
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
