// zlib's inflate, owned: a zlib stream read in pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "shardwise/status.h"

struct z_stream_s;

namespace shardwise {

// State of one zlib stream, about 40 KiB. Movable; thread-compatible; owns its memory, borrows no buffer between calls.
class Inflater {
 public:
  // Errors: RESOURCE_EXHAUSTED when zlib gets no memory.
  static Result<Inflater> create();
  // The same state again, at the same place.
  Result<Inflater> clone() const;

  struct Progress {
    std::size_t consumed = 0;
    std::size_t produced = 0;
  };
  // Reads from the front of `input` and writes to the front of `output` until one of them is used up or the stream
  // ends. Errors: DATA_LOSS for a corrupt stream.
  Result<Progress> run(std::span<const std::byte> input, std::span<std::byte> output);
  // The stream's end was read, and its checksum was right.
  bool ended() const { return ended_; }

 private:
  struct Deleter {
    void operator()(z_stream_s* stream) const;
  };
  using Stream = std::unique_ptr<z_stream_s, Deleter>;
  explicit Inflater(Stream stream) : stream_(std::move(stream)) {}

  Stream stream_;
  bool ended_ = false;
};

// Inflates one whole zlib stream that must fill `target` exactly; bytes behind its end are ignored, as HDF5 does.
// Errors: DATA_LOSS.
Status inflate_all(std::span<const std::byte> stored, std::span<std::byte> target);

}  // namespace shardwise
