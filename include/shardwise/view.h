// View: a stored tensor seen through reshape, transpose and slice, as an index map. Nothing is copied.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise {

// A chain of numpy-like steps on an array of shape source_shape(): each step maps indices of its result to indices of
// its input. Immutable value; every step returns a new view.
class View {
 public:
  static View of(Shape source_shape);

  // Same elements in row-major order under another shape; one extent may be -1 (inferred), as in numpy.
  // Errors: INVALID_ARGUMENT when the element counts differ.
  Result<View> reshape(const Shape& shape) const;
  // Dimension d of the result is dimension permutation[d] of this view.
  Result<View> transpose(const std::vector<int>& permutation) const;
  // Elements begin[d], begin[d] + step[d], ... below end[d], in each dimension; steps >= 1, empty `step` = all 1.
  Result<View> slice(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end,
                     const std::vector<std::int64_t>& step = {}) const;

  struct Step {
    enum class Kind : std::uint8_t { kReshape, kTranspose, kSlice } kind;
    Shape input_shape;
    Shape output_shape;
    std::vector<std::int64_t> a;  // kTranspose: permutation; kSlice: begin
    std::vector<std::int64_t> b;  // kSlice: step
    friend bool operator==(const Step&, const Step&) = default;
  };

  const Shape& source_shape() const { return source_shape_; }
  const Shape& shape() const { return steps_.empty() ? source_shape_ : steps_.back().output_shape; }
  const std::vector<Step>& steps() const { return steps_; }
  bool is_identity() const { return steps_.empty(); }
  // ".reshape(4, 256, 640).transpose(0, 2, 1)"; empty for the identity.
  std::string to_string() const;
  friend bool operator==(const View&, const View&) = default;

 private:
  Shape source_shape_;
  std::vector<Step> steps_;
};

}  // namespace shardwise
