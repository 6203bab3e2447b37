#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "random/fill_pattern.cc"
#include "random/fill_pattern.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // includes this file again for each target
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace shardwise::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Writes whole vectors around the caches; `out` is aligned to a vector, which begins the pattern at `phase`. Returns
// bytes.
std::size_t stream_pattern([[maybe_unused]] const std::byte* phase, [[maybe_unused]] std::size_t bytes,
                           [[maybe_unused]] std::byte* out) {
#if HWY_TARGET == HWY_SCALAR
  return 0;  // its vectors do not hold a whole pattern
#else
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto vector = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(phase));
  std::size_t done = 0;
  for (; done + lanes <= bytes; done += lanes) hn::Stream(vector, d, reinterpret_cast<std::uint8_t*>(out + done));
  hwy::FlushStream();
  return done;
#endif
}

}  // namespace
}  // namespace shardwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardwise {

HWY_EXPORT(stream_pattern);

namespace {

// From here on a stretch is larger than what other levels of the cache would keep of it.
constexpr std::size_t kAround = std::size_t{1} << 20;
constexpr std::size_t kAlignment = 128;  // of the largest vectors, and more
constexpr std::size_t kPeriod = 16;

// Returns where the pattern goes on.
std::size_t copy_pattern(const FillPattern& pattern, std::size_t phase, std::size_t bytes, std::byte* out) {
  while (bytes != 0) {
    const std::size_t now = std::min(bytes, pattern.size() - kPeriod);
    std::memcpy(out, pattern.data() + phase, now);
    phase = (phase + now) % kPeriod;
    bytes -= now;
    out += now;
  }
  return phase;
}

}  // namespace

void fill_pattern(const FillPattern& pattern, std::size_t bytes, std::byte* out) {
  std::size_t phase = 0;
  if (bytes >= kAround) {
    const std::size_t head = (kAlignment - reinterpret_cast<std::uintptr_t>(out) % kAlignment) % kAlignment;
    phase = copy_pattern(pattern, phase, head, out);
    out += head;
    bytes -= head;
    const std::size_t streamed = HWY_DYNAMIC_DISPATCH(stream_pattern)(pattern.data() + phase, bytes, out);
    phase = (phase + streamed) % kPeriod;
    out += streamed;
    bytes -= streamed;
  }
  copy_pattern(pattern, phase, bytes, out);
}

}  // namespace shardwise
#endif
