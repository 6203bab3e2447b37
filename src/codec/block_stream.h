// BlockStream: the decoded bytes of a stored block that is too large to decode whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "codec/filters.h"
#include "shardwise/status.h"

namespace shardwise {

class ByteCursor;

// Undoes the filters of one block piece by piece, in at most kMaxMemory bytes however large the block is. Reading on
// from where the last read ended is cheap; skipping forward costs decoding what is skipped; going back starts again.
//
// With deflate alone there is one inflate state. A shuffle of k-byte elements needs k of them, one in each byte plane:
// a whole sequential pass inflates the block twice, once to place the states and once to read.
//
// Thread-compatible; movable. Owns its memory and the callback.
class BlockStream {
 public:
  static constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kMaxShuffledElement = 16;

  // Fills `target` with the stored bytes from `offset` on. Called by create() and read() only, for ranges inside the
  // stored size, mostly but not always in ascending order.
  using ReadStored = std::function<Status(std::uint64_t offset, std::span<std::byte> target)>;

  // `steps` and `skipped` as for decode_block(). Reads and verifies every Fletcher-32 checksum, at the price of one
  // pass over the stored bytes (over the inflated ones for a checksum that was made before deflating). Errors: those of
  // read_stored; DATA_LOSS for sizes or checksums that differ; UNIMPLEMENTED for a chain that decode_block() refuses,
  // two shuffles, or elements wider than kMaxShuffledElement.
  static Result<BlockStream> create(std::span<const FilterStep> steps, std::uint32_t skipped, std::uint64_t stored_size,
                                    std::uint64_t decoded_size, ReadStored read_stored);

  BlockStream(BlockStream&&) noexcept;
  BlockStream& operator=(BlockStream&&) noexcept;
  ~BlockStream();

  std::uint64_t decoded_size() const;

  // Decoded bytes [offset, offset + target.size()), any alignment. A deflate stream is known to be sound, of the right
  // size and with the right checksum, once its last byte was read.
  // Errors: those of read_stored; DATA_LOSS as decode_block(); INVALID_ARGUMENT for a range outside the block. `target`
  // is then partly written; the next read starts again.
  Status read(std::uint64_t offset, std::span<std::byte> target);

 private:
  struct Source;
  explicit BlockStream(std::unique_ptr<Source> source);

  std::unique_ptr<Source> source_;
  std::unique_ptr<ByteCursor> cursor_;
  std::uint64_t position_ = 0;  // of cursor_
};

}  // namespace shardwise
