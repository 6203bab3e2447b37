// Fletcher-32 as HDF5 computes and stores it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shardwise/status.h"

namespace shardwise {

// The checksum of bytes that arrive in pieces. Thread-compatible; owns nothing.
class Fletcher32 {
 public:
  void add(std::span<const std::byte> bytes);
  std::uint32_t value() const;

 private:
  void add_words(const std::byte* bytes, std::size_t words);

  std::uint64_t sum1_ = 0;
  std::uint64_t sum2_ = 0;
  std::uint64_t total_ = 0;   // bytes seen
  std::uint8_t pending_ = 0;  // first byte of a word whose second has not come
};

// Bytes that the filter appends.
inline constexpr std::uint64_t kFletcher32Bytes = 4;

// Compares with the stored checksum: little-endian, or with the bytes of each half exchanged, which old versions of
// HDF5 wrote on big-endian machines and every version accepts. Errors: DATA_LOSS with both numbers.
Status check_fletcher32(std::uint32_t computed, std::span<const std::byte, kFletcher32Bytes> stored);

}  // namespace shardwise
