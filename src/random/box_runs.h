// The elements of a box as runs of consecutive row-major indices.
#pragma once

#include <cstdint>

#include "shardwise/shape.h"

namespace shardwise {

// Immutable. The box lies inside a tensor of this shape, which element_count() accepts.
class BoxRuns {
 public:
  BoxRuns(const Shape& shape, const Box& box);

  // Elements of each run; 0 for an empty box.
  std::uint64_t length() const { return length_; }
  // Calls visit(first) for each run, in row-major order of the box, until it returns an error.
  template <typename Visit>
  Status for_each(const Visit& visit) const;

 private:
  struct Dim {
    std::uint64_t extent;
    std::uint64_t stride;
  };
  std::vector<Dim> outer_;  // outermost first
  std::uint64_t first_ = 0;
  std::uint64_t length_ = 1;
};

inline BoxRuns::BoxRuns(const Shape& shape, const Box& box) {
  bool joined = true;  // so far, from the innermost dimension, everything is in one run
  std::uint64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(box.extent[d]);
    first_ += static_cast<std::uint64_t>(box.origin[d]) * stride;
    if (joined || extent == 0) {
      length_ *= extent;
    } else if (extent != 1) {
      outer_.insert(outer_.begin(), Dim{extent, stride});
    }
    joined = joined && box.extent[d] == shape[d];
    stride *= static_cast<std::uint64_t>(shape[d]);
  }
}

template <typename Visit>
Status BoxRuns::for_each(const Visit& visit) const {
  if (length_ == 0) return {};
  std::vector<std::uint64_t> at(outer_.size(), 0);
  std::uint64_t first = first_;
  while (true) {
    SHARDWISE_RETURN_IF_ERROR(visit(first));
    std::size_t d = outer_.size();
    while (d > 0 && ++at[d - 1] == outer_[d - 1].extent) {
      first -= (outer_[d - 1].extent - 1) * outer_[d - 1].stride;
      at[--d] = 0;
    }
    if (d == 0) return {};
    first += outer_[d - 1].stride;
  }
}

}  // namespace shardwise
