#include "shardwise/view.h"

#include <algorithm>

#include "base/checked.h"
#include "base/format.h"

namespace shardwise {

View View::of(Shape source_shape) {
  View view;
  view.source_shape_ = std::move(source_shape);
  return view;
}

namespace {

// Replaces the one -1 of `wanted` by what makes the element count `elements`.
Result<Shape> infer_extent(const Shape& wanted, std::uint64_t elements) {
  Shape shape = wanted;
  const auto hole = std::find(shape.begin(), shape.end(), -1);
  if (hole == shape.end()) return shape;
  if (std::find(hole + 1, shape.end(), -1) != shape.end()) {
    return invalid_argument("reshape to {}: only one extent may be -1", to_string(wanted));
  }
  *hole = 1;
  SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t known, element_count(shape));
  if (known == 0 || elements % known != 0) {
    return invalid_argument("cannot reshape {} elements into {}", elements, to_string(wanted));
  }
  *hole = static_cast<std::int64_t>(elements / known);
  return shape;
}

}  // namespace

Result<View> View::reshape(const Shape& wanted) const {
  SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t elements, element_count(shape()));
  SHARDWISE_ASSIGN_OR_RETURN(Shape target, infer_extent(wanted, elements));
  SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t count, element_count(target));
  if (count != elements) {
    return invalid_argument("cannot reshape {} ({} elements) into {} ({} elements)", shardwise::to_string(shape()),
                            elements, shardwise::to_string(target), count);
  }
  View view = *this;
  if (target != shape()) view.steps_.push_back({Step::Kind::kReshape, shape(), std::move(target), {}, {}});
  return view;
}

Result<View> View::transpose(const std::vector<int>& permutation) const {
  const std::size_t rank = shape().size();
  std::vector<bool> seen(rank, false);
  bool valid = permutation.size() == rank;
  for (std::size_t d = 0; valid && d < rank; ++d) {
    const int p = permutation[d];
    valid = p >= 0 && static_cast<std::size_t>(p) < rank && !seen[static_cast<std::size_t>(p)];
    if (valid) seen[static_cast<std::size_t>(p)] = true;
  }
  if (!valid) {
    return invalid_argument("transpose({}) is not a permutation of the {} dimensions of {}",
                            fmt::join(permutation, ", "), rank, shardwise::to_string(shape()));
  }
  Step step{Step::Kind::kTranspose, shape(), {}, {permutation.begin(), permutation.end()}, {}};
  for (int p : permutation) step.output_shape.push_back(shape()[static_cast<std::size_t>(p)]);
  View view = *this;
  if (!std::is_sorted(permutation.begin(), permutation.end())) view.steps_.push_back(std::move(step));
  return view;
}

Result<View> View::slice(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end,
                         const std::vector<std::int64_t>& step) const {
  const std::size_t rank = shape().size();
  if (begin.size() != rank || end.size() != rank || (!step.empty() && step.size() != rank)) {
    return invalid_argument("slice of {} needs {} begins, ends and steps", shardwise::to_string(shape()), rank);
  }
  Step next{Step::Kind::kSlice, shape(), {}, begin, step.empty() ? std::vector<std::int64_t>(rank, 1) : step};
  bool whole = true;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t extent = shape()[d];
    if (begin[d] < 0 || end[d] < begin[d] || end[d] > extent || next.b[d] < 1) {
      return invalid_argument("slice [{}:{}:{}] is outside dimension {} of {}", begin[d], end[d], next.b[d], d,
                              shardwise::to_string(shape()));
    }
    const auto length = static_cast<std::uint64_t>(end[d] - begin[d]);
    next.output_shape.push_back(static_cast<std::int64_t>(ceil_div(length, static_cast<std::uint64_t>(next.b[d]))));
    whole = whole && next.output_shape[d] == extent;
  }
  View view = *this;
  if (!whole) view.steps_.push_back(std::move(next));
  return view;
}

std::string View::to_string() const {
  std::string out;
  for (const Step& step : steps_) {
    switch (step.kind) {
      case Step::Kind::kReshape:
        out += format(".reshape({})", fmt::join(step.output_shape, ", "));
        break;
      case Step::Kind::kTranspose:
        out += format(".transpose({})", fmt::join(step.a, ", "));
        break;
      case Step::Kind::kSlice: {
        out += '[';
        for (std::size_t d = 0; d < step.a.size(); ++d) {
          const std::int64_t end =
              step.a[d] + (step.output_shape[d] == 0 ? 0 : (step.output_shape[d] - 1) * step.b[d] + 1);
          out += format("{}{}:{}", d == 0 ? "" : ", ", step.a[d], end);
          if (step.b[d] != 1) out += format(":{}", step.b[d]);
        }
        out += ']';
        break;
      }
    }
  }
  return out;
}

}  // namespace shardwise
