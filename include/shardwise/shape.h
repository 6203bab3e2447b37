// Shapes and boxes (hyper-rectangles) of tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shardwise/dtype.h"
#include "shardwise/status.h"

namespace shardwise {

// Extent per dimension, outermost first, each >= 0. Empty = scalar. Row-major (C) order everywhere.
using Shape = std::vector<std::int64_t>;

// Ranks above this are refused (numpy's own limit).
inline constexpr std::size_t kMaxRank = 64;

// Python spelling: "()", "(3,)", "(2, 4)".
std::string to_string(const Shape& shape);

// Product of the extents. Errors: INVALID_ARGUMENT for a negative extent, rank over kMaxRank, or a product over 2^63-1.
Result<std::uint64_t> element_count(const Shape& shape);

// Bytes of a dense tensor. Errors: as element_count; and when the elements of a sub-byte type do not fill whole bytes.
Result<std::uint64_t> byte_count(const Shape& shape, DType dtype);

// The elements whose index i satisfies origin[d] <= i[d] < origin[d] + extent[d] in every dimension d.
struct Box {
  std::vector<std::int64_t> origin;
  std::vector<std::int64_t> extent;

  static Box whole(const Shape& shape) { return Box{std::vector<std::int64_t>(shape.size(), 0), shape}; }

  std::size_t rank() const { return extent.size(); }
  // Product of the extents (of a box inside a checked shape: cannot overflow).
  std::uint64_t elements() const;
  friend bool operator==(const Box&, const Box&) = default;
};

// "[0:128, 64:96]", "[]" for a scalar's box.
std::string to_string(const Box& box);

// True when every index of `box` is an index of `shape`, without overflow.
bool fits(const Box& box, const Shape& shape);

// The common part; extents of 0 where there is none. Same rank required.
Box intersect(const Box& a, const Box& b);

// One dimension of a strided copy: `extent` steps of these strides, in elements.
struct CopyDim {
  std::uint64_t extent = 1;
  std::int64_t source_stride = 0;
  std::int64_t target_stride = 0;
  friend bool operator==(const CopyDim&, const CopyDim&) = default;
};

}  // namespace shardwise
