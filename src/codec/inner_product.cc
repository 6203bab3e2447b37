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

std::array<std::uint64_t, 2> two_inner_products(const std::byte* words, const std::uint32_t* factors,
                                                std::size_t count) {
  return {plain_product(words, factors, count), plain_product(words + 4 * count, factors, count)};
}

#else

// Adds the full products of the words at even places to `even`, and of those at odd places, copied there, to `odd`.
template <class V32, class V64>
HWY_INLINE void accumulate(V32 word, V32 factor, V32 odd_factor, V64& even, V64& odd) {
  even = hn::Add(even, hn::MulEven(word, factor));
  odd = hn::Add(odd, hn::MulEven(hn::DupOdd(word), odd_factor));
}

std::uint64_t inner_product(const std::byte* words, const std::uint32_t* factors, std::size_t count) {
  const hn::ScalableTag<std::uint64_t> d64;
  const hn::Repartition<std::uint32_t, decltype(d64)> d32;
  auto even = hn::Zero(d64);
  auto odd = hn::Zero(d64);
  std::size_t i = 0;
  for (; i + hn::Lanes(d32) <= count; i += hn::Lanes(d32)) {
    const auto factor = hn::LoadU(d32, factors + i);
    const auto word = hn::LoadU(d32, reinterpret_cast<const std::uint32_t*>(words + 4 * i));
    accumulate(word, factor, hn::DupOdd(factor), even, odd);
  }
  return hn::GetLane(hn::SumOfLanes(d64, hn::Add(even, odd))) + plain_product(words + 4 * i, factors + i, count - i);
}

// More than two blocks at once are slower again: they lie 4 KiB apart, and compete for the same lines of the first
// cache.
std::array<std::uint64_t, 2> two_inner_products(const std::byte* words, const std::uint32_t* factors,
                                                std::size_t count) {
  const hn::ScalableTag<std::uint64_t> d64;
  const hn::Repartition<std::uint32_t, decltype(d64)> d32;
  const std::byte* next = words + 4 * count;
  auto even0 = hn::Zero(d64);
  auto odd0 = hn::Zero(d64);
  auto even1 = hn::Zero(d64);
  auto odd1 = hn::Zero(d64);
  std::size_t i = 0;
  for (; i + hn::Lanes(d32) <= count; i += hn::Lanes(d32)) {
    const auto factor = hn::LoadU(d32, factors + i);
    const auto odd_factor = hn::DupOdd(factor);
    accumulate(hn::LoadU(d32, reinterpret_cast<const std::uint32_t*>(words + 4 * i)), factor, odd_factor, even0, odd0);
    accumulate(hn::LoadU(d32, reinterpret_cast<const std::uint32_t*>(next + 4 * i)), factor, odd_factor, even1, odd1);
  }
  return {hn::GetLane(hn::SumOfLanes(d64, hn::Add(even0, odd0))) + plain_product(words + 4 * i, factors + i, count - i),
          hn::GetLane(hn::SumOfLanes(d64, hn::Add(even1, odd1))) + plain_product(next + 4 * i, factors + i, count - i)};
}

#endif

}  // namespace
}  // namespace shardwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardwise {

HWY_EXPORT(inner_product);
HWY_EXPORT(two_inner_products);

InnerProduct find_inner_product() {
  choose_target();
  return &HWY_DYNAMIC_DISPATCH(inner_product);
}

TwoInnerProducts find_two_inner_products() {
  choose_target();
  return &HWY_DYNAMIC_DISPATCH(two_inner_products);
}

}  // namespace shardwise
#endif
