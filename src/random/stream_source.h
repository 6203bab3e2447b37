// What all generators of random values share: cutting runs and boxes into blocks of elements.
#pragma once

#include "random/counters.h"
#include "shardwise/generator.h"

namespace shardwise {

class StreamSource : public Generator::Source {
 public:
  explicit StreamSource(std::size_t element_bytes) : element_bytes_(element_bytes) {}

  Status fill_run(std::uint64_t first, std::uint64_t count, std::byte* out) const final;
  Status fill_box(const Shape& shape, const Box& box, std::byte* out) const final;

 private:
  // Writes the elements with these indices. `out` needs no alignment.
  virtual void fill_block(const Counters& counters, std::byte* out) const = 0;

  std::size_t element_bytes_;
};

}  // namespace shardwise
