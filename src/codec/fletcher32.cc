#include "codec/fletcher32.h"

#include <algorithm>

#include "base/format.h"
#include "codec/filters.h"

namespace shardwise {
namespace {

// Both sums are taken modulo 65535; 65535 itself stands for 0 unless every byte was 0, as in repeated end-around
// carries.
std::uint64_t fold(std::uint64_t sum) { return sum == 0 ? 0 : (sum - 1) % 65535 + 1; }

std::uint64_t word(const std::byte* bytes) {
  return std::to_integer<std::uint64_t>(bytes[0]) << 8 | std::to_integer<std::uint64_t>(bytes[1]);
}

}  // namespace

void Fletcher32::add_words(const std::byte* bytes, std::size_t words) {
  // With both sums at most 65535 at the start, 2^22 words keep the second under 2^61.
  constexpr std::size_t kBlock = std::size_t{1} << 22;
  while (words != 0) {
    const std::size_t block = std::min(words, kBlock);
    std::uint64_t sum1 = sum1_;
    std::uint64_t sum2 = sum2_;
    std::size_t i = 0;
    // Four at a time: the same sums with a fourth of the steps that wait for each other.
    for (; i + 4 <= block; i += 4) {
      const std::uint64_t w0 = word(bytes + 2 * i);
      const std::uint64_t w1 = word(bytes + 2 * i + 2);
      const std::uint64_t w2 = word(bytes + 2 * i + 4);
      const std::uint64_t w3 = word(bytes + 2 * i + 6);
      sum2 += 4 * sum1 + (4 * w0 + 3 * w1) + (2 * w2 + w3);
      sum1 += (w0 + w1) + (w2 + w3);
    }
    for (; i < block; ++i) {
      sum1 += word(bytes + 2 * i);
      sum2 += sum1;
    }
    sum1_ = fold(sum1);
    sum2_ = fold(sum2);
    bytes += 2 * block;
    words -= block;
  }
}

void Fletcher32::add(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (total_ % 2 != 0) {
    const std::byte word[2] = {std::byte{pending_}, bytes[0]};
    add_words(word, 1);
    total_ += 1;
    bytes = bytes.subspan(1);
  }
  add_words(bytes.data(), bytes.size() / 2);
  if (bytes.size() % 2 != 0) pending_ = std::to_integer<std::uint8_t>(bytes.back());
  total_ += bytes.size();
}

std::uint32_t Fletcher32::value() const {
  std::uint64_t sum1 = sum1_;
  std::uint64_t sum2 = sum2_;
  if (total_ % 2 != 0) {
    sum1 = fold(sum1 + (std::uint64_t{pending_} << 8));
    sum2 = fold(sum2 + sum1);
  }
  return static_cast<std::uint32_t>(sum2 << 16 | sum1);
}

std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  Fletcher32 sum;
  sum.add(bytes);
  return sum.value();
}

Status check_fletcher32(std::uint32_t computed, std::span<const std::byte, kFletcher32Bytes> stored) {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(stored[i]); };
  const std::uint32_t plain = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
  const std::uint32_t exchanged = byte(1) | byte(0) << 8 | byte(3) << 16 | byte(2) << 24;
  if (computed == plain || computed == exchanged) return {};
  return data_loss("Fletcher-32 checksum is {:08x} but {:08x} was stored (damaged bytes)", computed, plain);
}

}  // namespace shardwise
