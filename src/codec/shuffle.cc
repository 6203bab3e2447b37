#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/shuffle.cc"
#include "codec/shuffle.h"

#include <hwy/foreach_target.h>  // includes this file again for each target
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <utility>

// Per target.
#include "codec/exchange-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardwise::HWY_NAMESPACE {
namespace {

// Joins the planes of `count` elements, each plane `stride` bytes behind the one before; returns how many elements were
// joined, a prefix of them.
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

std::size_t join_planes(const std::byte*, std::size_t, std::uint64_t, std::size_t, std::byte*) { return 0; }

#else

template <std::size_t... kPlane>
std::size_t join(const std::byte* planes, std::size_t stride, std::size_t count, std::byte* target,
                 std::index_sequence<kPlane...> all) {
  const hn::FixedTag<std::uint8_t, 16> d;
  constexpr std::size_t kStep = 16;
  std::size_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(planes + i);
    auto* to = reinterpret_cast<std::uint8_t*>(target + i * sizeof...(kPlane));
    Vectors<hn::Vec<decltype(d)>, sizeof...(kPlane)> rows = {{hn::LoadU(d, from + kPlane * stride)...}};
    rows = exchange_all(d, rows, all);
    (hn::StoreU(rows.at[kPlane], d, to + kPlane * kStep), ...);
  }
  return i;
}

std::size_t join_planes(const std::byte* planes, std::size_t stride, std::uint64_t element_size, std::size_t count,
                        std::byte* target) {
  switch (element_size) {
    case 2:
      return join(planes, stride, count, target, std::make_index_sequence<2>());
    case 4:
      return join(planes, stride, count, target, std::make_index_sequence<4>());
    case 8:
      return join(planes, stride, count, target, std::make_index_sequence<8>());
    case 16:
      return join(planes, stride, count, target, std::make_index_sequence<16>());
    default:
      return 0;
  }
}

#endif

}  // namespace
}  // namespace shardwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardwise {
namespace {

// Blocks of elements stay in the nearest cache while each plane in turn is spread over them.
void join_any(const std::byte* planes, std::size_t stride, std::uint64_t element_size, std::size_t count,
              std::byte* target) {
  const std::size_t block = std::max<std::size_t>(1, 16384 / element_size);
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t end = std::min(count, begin + block);
    for (std::size_t plane = 0; plane < element_size; ++plane) {
      for (std::size_t i = begin; i < end; ++i) target[i * element_size + plane] = planes[plane * stride + i];
    }
  }
}

}  // namespace

HWY_EXPORT(join_planes);

void unshuffle(std::span<const std::byte> shuffled, std::uint64_t element_size, std::span<std::byte> target) {
  const std::size_t count = element_size <= 1 ? 0 : shuffled.size() / element_size;
  const std::size_t whole = count * element_size;
  const std::size_t joined =
      HWY_DYNAMIC_DISPATCH(join_planes)(shuffled.data(), count, element_size, count, target.data());
  join_any(shuffled.data() + joined, count, element_size, count - joined, target.data() + joined * element_size);
  if (whole != shuffled.size()) std::memcpy(target.data() + whole, shuffled.data() + whole, shuffled.size() - whole);
}

}  // namespace shardwise
#endif
