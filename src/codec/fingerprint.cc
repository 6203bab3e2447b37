#include "shardwise/fingerprint.h"

#include <cassert>

#include "base/format.h"
#include "codec/fingerprint_words.h"

namespace shardwise {
namespace {

// One step of the final mixing: one-to-one in `value` for a fixed state.
std::uint64_t absorb(std::uint64_t state, std::uint64_t value) {
  return mix64(state * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du + value);
}

}  // namespace

std::string to_string(Fingerprint fingerprint) { return format("{:016x}", fingerprint.value); }

void FingerprintSum::add(std::uint64_t first_element, std::span<const std::byte> bytes, std::uint64_t width) {
  assert(width != 0 && bytes.size() % width == 0);
  sum_ += weighted_sum(first_element * width, bytes);
}

Fingerprint FingerprintSum::finish(DType dtype, const Shape& shape) const {
  const std::string_view name = to_string(dtype);
  std::uint64_t state = absorb(0, name.size());
  for (const char letter : name) state = absorb(state, static_cast<unsigned char>(letter));
  state = absorb(state, shape.size());
  for (const std::int64_t extent : shape) state = absorb(state, static_cast<std::uint64_t>(extent));
  return {absorb(state, sum_)};
}

}  // namespace shardwise
