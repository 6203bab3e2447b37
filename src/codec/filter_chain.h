// The filters that were applied to one block, and what they did to its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/filters.h"
#include "shardwise/status.h"

namespace shardwise {

// A view of filter steps without those that were skipped. Immutable; borrows the steps.
class FilterChain {
 public:
  FilterChain(std::span<const FilterStep> steps, std::uint32_t skipped) : steps_(steps), skipped_(skipped) {}

  // INVALID_ARGUMENT for more steps than HDF5 allows or a shuffle of elements without bytes. UNIMPLEMENTED for chains
  // whose sizes cannot be known beforehand: two deflates, or a shuffle of deflated bytes.
  Status status() const;

  std::size_t size() const { return steps_.size(); }
  bool applied(std::size_t step) const { return (skipped_ >> step & 1) == 0; }
  FilterStep::Kind kind(std::size_t step) const { return steps_[step].kind; }
  std::uint64_t element_size(std::size_t step) const { return steps_[step].element_size; }

  // Of the applied steps before `step`, in the order of writing: bytes that checksums appended, and the number of
  // deflates and shuffles.
  std::uint64_t checksum_bytes_before(std::size_t step) const;
  std::uint64_t moves_before(std::size_t step) const;
  bool deflated() const;

 private:
  std::size_t count_before(std::size_t step, FilterStep::Kind kind) const;

  std::span<const FilterStep> steps_;
  std::uint32_t skipped_;
};

}  // namespace shardwise
