// Forward streams of bytes: stored, inflated, unshuffled. What a BlockStream is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "shardwise/status.h"

namespace shardwise {

// A place in a stream of bytes that moves forward only. Thread-compatible. After an error it is of no further use.
class ByteCursor {
 public:
  virtual ~ByteCursor() = default;
  virtual Status read(std::span<std::byte> target) = 0;
  virtual Status skip(std::uint64_t count) = 0;
  // Another cursor at the same place.
  virtual Result<std::unique_ptr<ByteCursor>> clone() const = 0;
};

using ReadBytes = std::function<Status(std::uint64_t offset, std::span<std::byte> target)>;

// Bytes [0, size) of what `read` gives; borrows `read`.
std::unique_ptr<ByteCursor> stored_cursor(const ReadBytes& read, std::uint64_t size);

// The `size` bytes that the zlib stream in bytes [0, stored_size) of `read` inflates to; borrows `read`, which is asked
// for up to `piece` bytes at a time. Memory: piece + 40 KiB.
Result<std::unique_ptr<ByteCursor>> inflate_cursor(const ReadBytes& read, std::uint64_t stored_size, std::uint64_t size,
                                                   std::size_t piece);

// Undoes a shuffle of `size` bytes, which `shuffled`, at its start, gives. Starts at byte `position` of the result.
// Memory: a clone of `shuffled` for each byte of an element, and 2 * buffer.
Result<std::unique_ptr<ByteCursor>> unshuffle_cursor(std::unique_ptr<ByteCursor> shuffled, std::uint64_t element_size,
                                                     std::uint64_t size, std::uint64_t position, std::size_t buffer);

}  // namespace shardwise
