// MT19937 (Matsumoto and Nishimura), and how CPython seeds it and draws integers below a bound from it.
#include <bit>
#include <cassert>

#include "shardwise/seed.h"

namespace shardwise {
namespace {

constexpr std::size_t kWords = 624;
constexpr std::size_t kShift = 397;

}  // namespace

PythonRandom::PythonRandom(std::uint64_t seed) {
  // init_by_array over the 32-bit words of the seed, the least first; 0 has one word.
  const std::array<std::uint32_t, 2> words = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  const std::size_t length = words[1] != 0 ? 2 : 1;
  const auto mixed = [this](std::size_t i) { return state_[i - 1] ^ (state_[i - 1] >> 30); };

  state_[0] = 19650218u;
  for (std::size_t i = 1; i < kWords; ++i) state_[i] = 1812433253u * mixed(i) + static_cast<std::uint32_t>(i);
  std::size_t i = 1;
  const auto advance = [&] {
    if (++i == kWords) {
      state_[0] = state_[kWords - 1];
      i = 1;
    }
  };
  for (std::size_t step = 0; step < kWords; ++step) {
    const std::size_t j = step % length;
    state_[i] = (state_[i] ^ (mixed(i) * 1664525u)) + words[j] + static_cast<std::uint32_t>(j);
    advance();
  }
  for (std::size_t step = 0; step < kWords - 1; ++step) {
    state_[i] = (state_[i] ^ (mixed(i) * 1566083941u)) - static_cast<std::uint32_t>(i);
    advance();
  }
  state_[0] = 0x80000000u;
}

void PythonRandom::twist() {
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kWords] & 0x7fffffffu);
    state_[i] = state_[(i + kShift) % kWords] ^ (y >> 1) ^ ((y & 1u) * 0x9908b0dfu);
  }
  used_ = 0;
}

std::uint32_t PythonRandom::word() {
  if (used_ == kWords) twist();
  std::uint32_t y = state_[used_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

std::uint32_t PythonRandom::randint(std::uint32_t low, std::uint32_t high) {
  assert(low <= high && high - low < 0xffffffffu);
  const std::uint32_t count = high - low + 1;
  const int unused = std::countl_zero(count);
  std::uint32_t drawn = word() >> unused;
  while (drawn >= count) drawn = word() >> unused;
  return low + drawn;
}

}  // namespace shardwise
