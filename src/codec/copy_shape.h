// The dimensions of a strided copy in their simplest form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "shardwise/shape.h"

namespace shardwise {

// One dimension with its steps in bytes.
struct ByteDim {
  std::uint64_t extent;
  std::int64_t source;
  std::int64_t target;
};

// Up to 64 dimensions of at least two elements each (more would not fit an address space), ordered by falling target
// step, all target steps positive, neighbours that are one run of equal steps on both sides merged. Plain data.
struct CopyShape {
  std::array<ByteDim, 64> dims;
  std::size_t rank = 0;
  bool empty = false;             // some extent is 0
  std::int64_t source_start = 0;  // bytes from the caller's pointers to the first element in the new order
  std::int64_t target_start = 0;

  std::span<ByteDim> all() { return {dims.data(), rank}; }
  std::span<const ByteDim> all() const { return {dims.data(), rank}; }
  const ByteDim& inner() const { return dims[rank - 1]; }
  std::uint64_t elements() const {
    std::uint64_t product = 1;
    for (const ByteDim& dim : all()) product *= dim.extent;
    return product;
  }
  // Takes out dimension `index`.
  ByteDim take(std::size_t index);
};

// nullopt when more than 64 dimensions have two or more elements.
std::optional<CopyShape> simplify(std::span<const CopyDim> dims, std::uint64_t source_width,
                                  std::uint64_t target_width);

}  // namespace shardwise
