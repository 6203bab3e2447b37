#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/inner_product.cc"
#include "codec/inner_product.h"

#include <hwy/foreach_target.h>  // includes this file again for each target
#include <hwy/highway.h>

#include <cstring>

#include "codec/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace shardwise::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

std::uint64_t plain_product(const std::byte* words, const std::uint32_t* factors, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t word;
    std::memcpy(&word, words + sizeof(word) * i, sizeof(word));
    sum += std::uint64_t{word} * factors[i];
  }
  return sum;
}

#if HWY_TARGET == HWY_SCALAR

std::uint64_t inner_product(const std::byte* words, const std::uint32_t* factors, std::size_t count) {
  return plain_product(words, factors, count);
}

#else

// Full products of the words at even places, and of those at odd places moved there.
template <class D64, class V64>
HWY_INLINE void accumulate(D64 d64, const std::byte* words, const std::uint32_t* factors, V64& even, V64& odd) {
  const hn::Repartition<std::uint32_t, D64> d32;
  const auto word = hn::LoadU(d32, reinterpret_cast<const std::uint32_t*>(words));
  const auto factor = hn::LoadU(d32, factors);
  const auto high = [&](auto v) { return hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d64, v))); };
  even = hn::Add(even, hn::MulEven(word, factor));
  odd = hn::Add(odd, hn::MulEven(high(word), high(factor)));
}

std::uint64_t inner_product(const std::byte* words, const std::uint32_t* factors, std::size_t count) {
  const hn::ScalableTag<std::uint64_t> d64;
  const std::size_t lanes = 2 * hn::Lanes(d64);
  auto even0 = hn::Zero(d64);
  auto odd0 = hn::Zero(d64);
  auto even1 = hn::Zero(d64);
  auto odd1 = hn::Zero(d64);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    accumulate(d64, words + 4 * i, factors + i, even0, odd0);
    accumulate(d64, words + 4 * (i + lanes), factors + i + lanes, even1, odd1);
  }
  if (i + lanes <= count) {
    accumulate(d64, words + 4 * i, factors + i, even0, odd0);
    i += lanes;
  }
  const auto sum = hn::Add(hn::Add(even0, odd0), hn::Add(even1, odd1));
  return hn::GetLane(hn::SumOfLanes(d64, sum)) + plain_product(words + 4 * i, factors + i, count - i);
}

#endif

}  // namespace
}  // namespace shardwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardwise {

HWY_EXPORT(inner_product);
InnerProduct find_inner_product() {
  choose_target();
  return &HWY_DYNAMIC_DISPATCH(inner_product);
}

}  // namespace shardwise
#endif
