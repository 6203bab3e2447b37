// Strided copies that convert.
#pragma once

#include "codec/convert.h"
#include "codec/copy_shape.h"
#include "codec/move.h"
#include "shardwise/dtype.h"
#include "shardwise/status.h"

namespace shardwise {

// Copies a shape from one type to another, by way of small blocks on the stack. Immutable; thread-safe.
class ConvertCopy {
 public:
  // Precondition: from != to and can_cast(from, to).
  ConvertCopy(DType from, DType to, Stores stores);
  // Uses up `shape`. Errors: INVALID_ARGUMENT when an integer does not fit; names it.
  Status run(CopyShape& shape, const std::byte* source, std::byte* target) const;

 private:
  Status contiguous(const std::byte* source, std::byte* target, std::uint64_t count) const;
  Status streamed(const std::byte* source, std::byte* target, std::uint64_t count) const;
  Status strided(const ByteDim& dim, const std::byte* source, std::byte* target) const;
  Status joined(const ByteDim& rows, std::uint64_t run, const std::byte* source, std::byte* target) const;
  Status transposed(const ByteDim& along, const ByteDim& beside, const std::byte* source, std::byte* target) const;

  DType from_;
  DType to_;
  Stores stores_;
  std::uint64_t source_width_;
  std::uint64_t target_width_;
  ConvertRun convert_;
};

}  // namespace shardwise
