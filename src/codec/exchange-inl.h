// Exchange of rows and columns among vectors, compiled for each instruction set: include after hwy/highway.h.
#if defined(SHARDWISE_CODEC_EXCHANGE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDWISE_CODEC_EXCHANGE_INL_H_
#undef SHARDWISE_CODEC_EXCHANGE_INL_H_
#else
#define SHARDWISE_CODEC_EXCHANGE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <utility>

// Vectors without a fixed size cannot be kept in arrays.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
HWY_BEFORE_NAMESPACE();
namespace shardwise::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class V, std::size_t kCount>
struct Vectors {
  V at[kCount];
};

template <std::size_t kRow, class D, class V, std::size_t kSide>
HWY_INLINE V exchanged_row(D d, const Vectors<V, kSide>& rows) {
  if constexpr (kRow % 2 == 0) {
    return hn::InterleaveLower(d, rows.at[kRow / 2], rows.at[kRow / 2 + kSide / 2]);
  } else {
    return hn::InterleaveUpper(d, rows.at[kRow / 2], rows.at[kRow / 2 + kSide / 2]);
  }
}

template <class D, class V, std::size_t kSide, std::size_t... kRow>
HWY_INLINE Vectors<V, kSide> exchange(D d, const Vectors<V, kSide>& rows, std::index_sequence<kRow...>) {
  return {{exchanged_row<kRow>(d, rows)...}};
}

// log2(rows) rounds, each pairing row i with row i + rows / 2. A round rotates by one the bits that number an element
// (those of its row, then those of its column in 16 bytes), so that in the end the bits of the row stand lowest: n rows
// of n elements are transposed; n rows of more are n byte planes joined to elements, row after row. Everything is
// unrolled by templates: a compiler that keeps the loops also keeps the rows in memory.
template <class D, class V, std::size_t kSide, std::size_t... kRow>
HWY_INLINE Vectors<V, kSide> exchange_all(D d, Vectors<V, kSide> rows, std::index_sequence<kRow...> all) {
  static_assert(kSide == 1 || kSide == 2 || kSide == 4 || kSide == 8 || kSide == 16);
  if constexpr (kSide >= 2) rows = exchange(d, rows, all);
  if constexpr (kSide >= 4) rows = exchange(d, rows, all);
  if constexpr (kSide >= 8) rows = exchange(d, rows, all);
  if constexpr (kSide >= 16) rows = exchange(d, rows, all);
  return rows;
}

}  // namespace
}  // namespace shardwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif  // toggle guard
