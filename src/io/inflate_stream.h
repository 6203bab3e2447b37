// A raw-deflate stream being inflated from a range of a file; can be copied at any position.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shardwise/bytes.h"
#include "shardwise/file.h"
#include "shardwise/status.h"

namespace shardwise {

// Where the deflated bytes lie and what messages call the inflated ones.
struct DeflatedMember {
  std::shared_ptr<const File> archive;
  ByteRange range;
  std::uint64_t size = 0;  // inflated
  std::string path;
};

// Deflated bytes read ahead. Thread-compatible. Borrows `member`, which must outlive it.
class DeflatedInput {
 public:
  explicit DeflatedInput(const DeflatedMember& member) : member_(member) {}
  // Bytes of the member from `offset` (counted from its begin) on: at least one, unless `offset` is its end.
  Result<std::span<const std::byte>> at(std::uint64_t offset);

 private:
  const DeflatedMember& member_;
  std::vector<std::byte> buffer_;
  ByteRange held_;
};

// One inflate in progress. Thread-compatible, neither copyable nor movable (zlib keeps its address). Borrows `member`.
class InflateStream {
 public:
  // At the beginning of the member. Errors: RESOURCE_EXHAUSTED.
  static Result<std::unique_ptr<InflateStream>> start(const DeflatedMember& member);
  // A second stream at the same position. Errors: RESOURCE_EXHAUSTED.
  Result<std::unique_ptr<InflateStream>> copy() const;
  ~InflateStream() { inflateEnd(&zlib_); }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;

  // Inflated bytes made so far.
  std::uint64_t position() const { return position_; }

  // The next target.size() inflated bytes. After an error the stream is of no use.
  Status read(DeflatedInput& input, std::span<std::byte> target);
  // At position() == size: checks that the stream and the member end here. The stream is of no use afterwards.
  Status finish(DeflatedInput& input);

 private:
  explicit InflateStream(const DeflatedMember& member) : member_(member) {}
  // One call of inflate(): input from where it stopped, as much output as fits.
  Result<std::size_t> step(DeflatedInput& input, std::span<std::byte> target);
  Status corrupt(std::string_view what) const;

  const DeflatedMember& member_;
  z_stream zlib_{};
  std::uint64_t position_ = 0;
  std::uint64_t consumed_ = 0;
  bool ended_ = false;
};

}  // namespace shardwise
