#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "random/counters.cc"
#include "random/counters.h"

#include <hwy/foreach_target.h>  // includes this file again for each target
#include <hwy/highway.h>

#include "random/threefry.h"

HWY_BEFORE_NAMESPACE();
namespace shardwise::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<std::uint32_t>;
using V32 = hn::Vec<D32>;

// So many vectors go through the rounds together: one round of one vector waits for the round before.
constexpr std::size_t kTogether = 4;

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
#define SHARDWISE_ROTATES_BYTES_ 1
#else
#define SHARDWISE_ROTATES_BYTES_ 0
#endif

// By whole bytes is one shuffle where a rotation is three instructions.
template <int kRotation>
HWY_INLINE V32 rotate_left(V32 v) {
#if SHARDWISE_ROTATES_BYTES_
  if constexpr (kRotation % 8 == 0) {
    constexpr int kBytes = kRotation / 8;
    alignas(16) static constexpr std::uint8_t kFrom[16] = {
        (4 - kBytes) % 4,      (5 - kBytes) % 4,      (6 - kBytes) % 4,      (7 - kBytes) % 4,
        4 + (4 - kBytes) % 4,  4 + (5 - kBytes) % 4,  4 + (6 - kBytes) % 4,  4 + (7 - kBytes) % 4,
        8 + (4 - kBytes) % 4,  8 + (5 - kBytes) % 4,  8 + (6 - kBytes) % 4,  8 + (7 - kBytes) % 4,
        12 + (4 - kBytes) % 4, 12 + (5 - kBytes) % 4, 12 + (6 - kBytes) % 4, 12 + (7 - kBytes) % 4};
    const hn::Repartition<std::uint8_t, D32> d8;
    return hn::BitCast(D32(), hn::TableLookupBytes(hn::BitCast(d8, v), hn::LoadDup128(d8, kFrom)));
  }
#endif
  return hn::RotateRight<32 - kRotation>(v);
}
#undef SHARDWISE_ROTATES_BYTES_

// Written out, since a loop over vectors would keep them in memory.
template <int kRotation>
HWY_INLINE void one_round(V32 (&a)[kTogether], V32 (&b)[kTogether]) {
  a[0] = hn::Add(a[0], b[0]);
  a[1] = hn::Add(a[1], b[1]);
  a[2] = hn::Add(a[2], b[2]);
  a[3] = hn::Add(a[3], b[3]);
  b[0] = hn::Xor(rotate_left<kRotation>(b[0]), a[0]);
  b[1] = hn::Xor(rotate_left<kRotation>(b[1]), a[1]);
  b[2] = hn::Xor(rotate_left<kRotation>(b[2]), a[2]);
  b[3] = hn::Xor(rotate_left<kRotation>(b[3]), a[3]);
}

HWY_INLINE void add_to_each(V32 (&v)[kTogether], V32 subkey) {
  v[0] = hn::Add(v[0], subkey);
  v[1] = hn::Add(v[1], subkey);
  v[2] = hn::Add(v[2], subkey);
  v[3] = hn::Add(v[3], subkey);
}

template <std::uint32_t kGroup>
HWY_INLINE void one_group(const V32 (&subkeys)[3], V32 (&a)[kTogether], V32 (&b)[kTogether]) {
  constexpr auto kRotations = kThreefryRotations[kGroup % 2];
  one_round<kRotations[0]>(a, b);
  one_round<kRotations[1]>(a, b);
  one_round<kRotations[2]>(a, b);
  one_round<kRotations[3]>(a, b);
  add_to_each(a, subkeys[(kGroup + 1) % 3]);
  add_to_each(b, hn::Add(subkeys[(kGroup + 2) % 3], hn::Set(D32(), kGroup + 1)));
}

// From high and low words of the counters in a and b.
HWY_INLINE void blocks(const V32 (&subkeys)[3], V32 (&a)[kTogether], V32 (&b)[kTogether]) {
  add_to_each(a, subkeys[0]);
  add_to_each(b, subkeys[1]);
  one_group<0>(subkeys, a, b);
  one_group<1>(subkeys, a, b);
  one_group<2>(subkeys, a, b);
  one_group<3>(subkeys, a, b);
  one_group<4>(subkeys, a, b);
}

HWY_INLINE void load_each(const std::uint32_t* from, V32 (&v)[kTogether]) {
  const D32 d;
  const std::size_t lanes = hn::Lanes(d);
  v[0] = hn::LoadU(d, from);
  v[1] = hn::LoadU(d, from + lanes);
  v[2] = hn::LoadU(d, from + 2 * lanes);
  v[3] = hn::LoadU(d, from + 3 * lanes);
}

// Calls store(i, a, b) with the words of the elements from the i-th. The counters' low words must not wrap on the way.
template <class Store>
HWY_INLINE void for_each_vector(RandomKey key, const Counters& counters, std::size_t count, const Store& store) {
  const D32 d;
  const std::size_t lanes = hn::Lanes(d);
  const auto words = threefry_subkeys(key);
  const V32 subkeys[3] = {hn::Set(d, words[0]), hn::Set(d, words[1]), hn::Set(d, words[2])};
  const V32 step = hn::Set(d, static_cast<std::uint32_t>(lanes));
  const V32 high = hn::Set(d, static_cast<std::uint32_t>(counters.first >> 32));
  for (std::size_t done = 0; done < count; done += kTogether * lanes) {
    V32 a[kTogether];
    V32 b[kTogether];
    if (counters.high != nullptr) {
      load_each(counters.high + done, a);
      load_each(counters.low + done, b);
    } else {
      a[0] = a[1] = a[2] = a[3] = high;
      b[0] = hn::Iota(d, static_cast<std::uint32_t>(counters.first + done));
      b[1] = hn::Add(b[0], step);
      b[2] = hn::Add(b[1], step);
      b[3] = hn::Add(b[2], step);
    }
    blocks(subkeys, a, b);
    store(done, a[0], b[0]);
    store(done + lanes, a[1], b[1]);
    store(done + 2 * lanes, a[2], b[2]);
    store(done + 3 * lanes, a[3], b[3]);
  }
}

// The part of `count` that whole steps of the loop do.
std::size_t whole_steps(std::size_t count) { return count - count % (kTogether * hn::Lanes(D32())); }

std::size_t vector_bits32(RandomKey key, const Counters& counters, std::uint32_t* out) {
  const std::size_t count = whole_steps(counters.count);
  for_each_vector(key, counters, count,
                  [&](std::size_t at, V32 a, V32 b) HWY_ATTR { hn::StoreU(hn::Xor(a, b), D32(), out + at); });
  return count;
}

std::size_t vector_bits64(RandomKey key, const Counters& counters, std::uint64_t* out) {
  const std::size_t count = whole_steps(counters.count);
  auto* words = reinterpret_cast<std::uint32_t*>(out);
  for_each_vector(key, counters, count,
                  [&](std::size_t at, V32 a, V32 b) HWY_ATTR { hn::StoreInterleaved2(b, a, D32(), words + 2 * at); });
  return count;
}

}  // namespace
}  // namespace shardwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardwise {

HWY_EXPORT(vector_bits32);
HWY_EXPORT(vector_bits64);

namespace {

std::uint64_t counter(const Counters& counters, std::size_t i) {
  if (counters.high == nullptr) return counters.first + i;
  return (std::uint64_t{counters.high[i]} << 32) | counters.low[i];
}

// Vectors count in 32 bits: true when none of these does more.
bool low_words_wrap(const Counters& counters) {
  const std::uint64_t last = counters.first + counters.count;
  return counters.high == nullptr && (counters.first >> 32) != (last >> 32);
}

}  // namespace

void make_bits32(RandomKey key, const Counters& counters, std::uint32_t* out) {
  std::size_t done = low_words_wrap(counters) ? 0 : HWY_DYNAMIC_DISPATCH(vector_bits32)(key, counters, out);
  for (; done < counters.count; ++done) out[done] = stream_bits32(key, counter(counters, done));
}

void make_bits64(RandomKey key, const Counters& counters, std::uint64_t* out) {
  std::size_t done = low_words_wrap(counters) ? 0 : HWY_DYNAMIC_DISPATCH(vector_bits64)(key, counters, out);
  for (; done < counters.count; ++done) out[done] = stream_bits64(key, counter(counters, done));
}

}  // namespace shardwise
#endif
