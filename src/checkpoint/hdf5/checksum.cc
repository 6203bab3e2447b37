#include "checkpoint/hdf5/checksum.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/format.h"

namespace shardwise::hdf5 {
namespace {

using State = std::array<std::uint32_t, 3>;

void mix(State& s) {
  constexpr std::array<int, 6> kTurns = {4, 6, 8, 16, 19, 4};
  for (std::size_t i = 0; i < kTurns.size(); ++i) {
    std::uint32_t& target = s[i % 3];
    std::uint32_t& other = s[(i + 2) % 3];
    target -= other;
    target ^= std::rotl(other, kTurns[i]);
    other += s[(i + 1) % 3];
  }
}

void finish(State& s) {
  constexpr std::array<int, 7> kTurns = {14, 11, 25, 16, 4, 14, 24};
  for (std::size_t i = 0; i < kTurns.size(); ++i) {
    std::uint32_t& target = s[(i + 2) % 3];
    const std::uint32_t other = s[(i + 1) % 3];
    target ^= other;
    target -= std::rotl(other, kTurns[i]);
  }
}

void add_block(State& s, std::span<const std::byte> block) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    s[i / 4] += std::to_integer<std::uint32_t>(block[i]) << (8 * (i % 4));
  }
}

}  // namespace

std::uint32_t lookup3(std::span<const std::byte> bytes) {
  const std::uint32_t start = 0xdeadbeefu + static_cast<std::uint32_t>(bytes.size());
  State state = {start, start, start};
  if (bytes.empty()) return state[2];
  while (bytes.size() > 12) {
    add_block(state, bytes.first(12));
    mix(state);
    bytes = bytes.subspan(12);
  }
  add_block(state, bytes);
  finish(state);
  return state[2];
}

Status check_checksum(std::span<const std::byte> record, std::uint64_t offset, std::string_view what) {
  if (record.size() < 4) return data_loss("{} at byte {}: too short for a checksum", what, offset);
  const auto body = record.first(record.size() - 4);
  std::uint32_t stored = 0;
  for (std::size_t i = 0; i < 4; ++i) stored |= std::to_integer<std::uint32_t>(record[body.size() + i]) << (8 * i);
  const std::uint32_t computed = lookup3(body);
  if (stored == computed) return {};
  return data_loss("{} at byte {}: checksum {:#010x} is stored, its {} bytes give {:#010x} (corrupt file?)", what,
                   offset, stored, body.size(), computed);
}

}  // namespace shardwise::hdf5
