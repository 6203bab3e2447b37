#include "codec/block_stream.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/format.h"
#include "codec/byte_cursor.h"
#include "codec/filter_chain.h"
#include "codec/fletcher32.h"

namespace shardwise {
namespace {

using Kind = FilterStep::Kind;

// Memory: 16 states of 40 KiB, their pieces, the two buffers of a shuffle, and a buffer of a checksum pass.
constexpr std::size_t kPieces = 256u << 10;
constexpr std::size_t kShuffleBuffer = 32u << 10;
constexpr std::size_t kChecksumBuffer = 16u << 10;

}  // namespace

// The block as streams: what stands below the cursors. Immutable once checked.
struct BlockStream::Source {
  Source(std::span<const FilterStep> all_steps, std::uint32_t skipped, std::uint64_t stored, std::uint64_t decoded,
         ReadStored read)
      : steps(all_steps.begin(), all_steps.end()),
        chain(steps, skipped),
        stored_size(stored),
        decoded_size(decoded),
        read_stored(std::move(read)) {}

  Status check();
  Status verify(std::size_t step) const;
  // A cursor over the block with every step from `first` on undone.
  Result<std::unique_ptr<ByteCursor>> open(std::size_t first, std::uint64_t position) const;
  std::uint64_t size_after(std::size_t step) const { return decoded_size + chain.checksum_bytes_before(step); }
  // Bytes of the stored stream below the checksums that were appended at or after `step`.
  std::uint64_t stored_before(std::size_t step) const {
    return stored_size - (chain.checksum_bytes_before(chain.size()) - chain.checksum_bytes_before(step));
  }

  std::vector<FilterStep> steps;
  FilterChain chain;
  std::uint64_t stored_size;
  std::uint64_t decoded_size;
  ReadStored read_stored;
  std::optional<std::size_t> deflate;
  std::optional<std::size_t> shuffle;
};

Status BlockStream::Source::check() {
  SHARDWISE_RETURN_IF_ERROR(chain.status());
  std::uint64_t trailing = 0;  // checksums behind the last step that changes the bytes' number
  for (std::size_t step = 0; step < chain.size(); ++step) {
    if (!chain.applied(step)) continue;
    if (chain.kind(step) == Kind::kFletcher32) trailing += kFletcher32Bytes;
    if (chain.kind(step) == Kind::kDeflate) {
      deflate = step;
      trailing = 0;
    }
    if (chain.kind(step) != Kind::kShuffle || chain.element_size(step) == 1) continue;
    if (shuffle) return unimplemented("a block that was shuffled twice and is too large to decode whole");
    shuffle = step;
    if (chain.element_size(step) > kMaxShuffledElement) {
      return unimplemented("a block of shuffled elements of {} bytes that is too large to decode whole (at most {})",
                           chain.element_size(step), kMaxShuffledElement);
    }
  }
  if (decoded_size > ~std::uint64_t{0} - chain.checksum_bytes_before(chain.size())) {
    return data_loss("block of {} decoded bytes", decoded_size);
  }
  if (deflate ? stored_size < trailing : stored_size != size_after(chain.size())) {
    return data_loss("block of {} stored bytes does not hold {} decoded bytes", stored_size, decoded_size);
  }
  return {};
}

Result<std::unique_ptr<ByteCursor>> BlockStream::Source::open(std::size_t first, std::uint64_t position) const {
  const bool inflates = deflate && *deflate >= first;
  const bool unshuffles = shuffle && *shuffle >= first;
  std::unique_ptr<ByteCursor> cursor;
  if (inflates) {
    const std::size_t states = unshuffles ? static_cast<std::size_t>(chain.element_size(*shuffle)) : 1;
    SHARDWISE_ASSIGN_OR_RETURN(cursor, inflate_cursor(read_stored, stored_before(*deflate), size_after(*deflate),
                                                      kPieces / std::max<std::size_t>(states, 2)));
  } else {
    cursor = stored_cursor(read_stored, stored_size);
  }
  if (unshuffles) {
    return unshuffle_cursor(std::move(cursor), chain.element_size(*shuffle), size_after(*shuffle), position,
                            kShuffleBuffer);
  }
  SHARDWISE_RETURN_IF_ERROR(cursor->skip(position));
  return cursor;
}

Status BlockStream::Source::verify(std::size_t step) const {
  const bool on_stored = !deflate || step > *deflate;
  std::uint64_t left = (on_stored && deflate ? stored_before(step + 1) : size_after(step + 1)) - kFletcher32Bytes;
  SHARDWISE_ASSIGN_OR_RETURN(const std::unique_ptr<ByteCursor> cursor, open(step + 1, 0));
  std::vector<std::byte> buffer(kChecksumBuffer);
  Fletcher32 sum;
  while (left != 0) {
    const auto piece = std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size())));
    SHARDWISE_RETURN_IF_ERROR(cursor->read(piece));
    sum.add(piece);
    left -= piece.size();
  }
  std::array<std::byte, kFletcher32Bytes> stored;
  SHARDWISE_RETURN_IF_ERROR(cursor->read(stored));
  return check_fletcher32(sum.value(), stored);
}

BlockStream::BlockStream(std::unique_ptr<Source> source) : source_(std::move(source)) {}
BlockStream::BlockStream(BlockStream&&) noexcept = default;
BlockStream& BlockStream::operator=(BlockStream&&) noexcept = default;
BlockStream::~BlockStream() = default;

Result<BlockStream> BlockStream::create(std::span<const FilterStep> steps, std::uint32_t skipped,
                                        std::uint64_t stored_size, std::uint64_t decoded_size, ReadStored read_stored) {
  auto source = std::make_unique<Source>(steps, skipped, stored_size, decoded_size, std::move(read_stored));
  SHARDWISE_RETURN_IF_ERROR(source->check());
  for (std::size_t step = steps.size(); step-- > 0;) {
    if (source->chain.applied(step) && source->chain.kind(step) == Kind::kFletcher32) {
      SHARDWISE_RETURN_IF_ERROR(source->verify(step));
    }
  }
  return BlockStream(std::move(source));
}

std::uint64_t BlockStream::decoded_size() const { return source_->decoded_size; }

Status BlockStream::read(std::uint64_t offset, std::span<std::byte> target) {
  if (offset > decoded_size() || target.size() > decoded_size() - offset) {
    return invalid_argument("bytes [{}, {} + {}) of a block of {}", offset, offset, target.size(), decoded_size());
  }
  if (target.empty()) return {};
  std::unique_ptr<ByteCursor> cursor = std::move(cursor_);
  if (cursor != nullptr && offset >= position_) {
    SHARDWISE_RETURN_IF_ERROR(cursor->skip(offset - position_));
  } else {
    cursor.reset();  // before the next one takes its memory
    SHARDWISE_ASSIGN_OR_RETURN(cursor, source_->open(0, offset));
  }
  SHARDWISE_RETURN_IF_ERROR(cursor->read(target));
  cursor_ = std::move(cursor);
  position_ = offset + target.size();
  return {};
}

}  // namespace shardwise
