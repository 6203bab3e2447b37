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

template <int kRotation>
HWY_INLINE void one_round(V32 (&a)[kTogether], V32 (&b)[kTogether]) {
  for (std::size_t i = 0; i < kTogether; ++i) a[i] = hn::Add(a[i], b[i]);
  for (std::size_t i = 0; i < kTogether; ++i) b[i] = hn::Xor(hn::RotateRight<32 - kRotation>(b[i]), a[i]);
}

template <std::uint32_t kGroup>
HWY_INLINE void one_group(const V32 (&subkeys)[3], V32 (&a)[kTogether], V32 (&b)[kTogether]) {
  constexpr auto kRotations = kThreefryRotations[kGroup % 2];
  one_round<kRotations[0]>(a, b);
  one_round<kRotations[1]>(a, b);
  one_round<kRotations[2]>(a, b);
  one_round<kRotations[3]>(a, b);
  const V32 subkey = hn::Add(subkeys[(kGroup + 2) % 3], hn::Set(D32(), kGroup + 1));
  for (std::size_t i = 0; i < kTogether; ++i) {
    a[i] = hn::Add(a[i], subkeys[(kGroup + 1) % 3]);
    b[i] = hn::Add(b[i], subkey);
  }
}

// From high and low words of the counters in a and b.
HWY_INLINE void blocks(const V32 (&subkeys)[3], V32 (&a)[kTogether], V32 (&b)[kTogether]) {
  for (std::size_t i = 0; i < kTogether; ++i) {
    a[i] = hn::Add(a[i], subkeys[0]);
    b[i] = hn::Add(b[i], subkeys[1]);
  }
  one_group<0>(subkeys, a, b);
  one_group<1>(subkeys, a, b);
  one_group<2>(subkeys, a, b);
  one_group<3>(subkeys, a, b);
  one_group<4>(subkeys, a, b);
}

// Calls store(i, a, b) with the words of the elements from the i-th. The counters' low words must not wrap on the way.
template <class Store>
HWY_INLINE void for_each_vector(RandomKey key, const Counters& counters, std::size_t count, const Store& store) {
  const D32 d;
  const std::size_t lanes = hn::Lanes(d);
  const auto words = threefry_subkeys(key);
  const V32 subkeys[3] = {hn::Set(d, words[0]), hn::Set(d, words[1]), hn::Set(d, words[2])};
  const V32 high = hn::Set(d, static_cast<std::uint32_t>(counters.first >> 32));
  for (std::size_t done = 0; done < count; done += kTogether * lanes) {
    V32 a[kTogether];
    V32 b[kTogether];
    for (std::size_t i = 0; i < kTogether; ++i) {
      const std::size_t at = done + i * lanes;
      if (counters.high != nullptr) {
        a[i] = hn::LoadU(d, counters.high + at);
        b[i] = hn::LoadU(d, counters.low + at);
      } else {
        a[i] = high;
        b[i] = hn::Iota(d, static_cast<std::uint32_t>(counters.first + at));
      }
    }
    blocks(subkeys, a, b);
    for (std::size_t i = 0; i < kTogether; ++i) store(done + i * lanes, a[i], b[i]);
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
