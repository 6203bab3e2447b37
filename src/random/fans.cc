#include "base/checked.h"
#include "base/format.h"
#include "shardwise/initializer.h"

namespace shardwise {
namespace {

Result<std::uint64_t> product(const Shape& shape, const std::vector<int>& axes) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::uint64_t out = 1;
  for (const int axis : axes) {
    const std::int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank)
      return invalid_argument("axis {} of an initializer: the shape is {}", axis, to_string(shape));
    const auto next = checked_mul(out, static_cast<std::uint64_t>(shape[static_cast<std::size_t>(at)]));
    if (!next)
      return invalid_argument("fans of shape {} over axes ({}) overflow", to_string(shape), fmt::join(axes, ", "));
    out = *next;
  }
  return out;
}

}  // namespace

Result<Fans> compute_fans(const Shape& shape, const std::optional<std::vector<int>>& input_axes,
                          const std::optional<std::vector<int>>& output_axes) {
  SHARDWISE_ASSIGN_OR_RETURN([[maybe_unused]] const std::uint64_t elements, element_count(shape));
  if (input_axes && output_axes) {
    SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t in, product(shape, *input_axes));
    SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t out, product(shape, *output_axes));
    return Fans{in, out};
  }
  if (shape.empty()) return Fans{1, 1};
  const auto last = static_cast<std::uint64_t>(shape.back());
  if (shape.size() == 1) return Fans{last, last};
  std::uint64_t field = 1;
  for (std::size_t d = 0; d + 2 < shape.size(); ++d) field *= static_cast<std::uint64_t>(shape[d]);
  return Fans{static_cast<std::uint64_t>(shape[shape.size() - 2]) * field, last * field};
}

}  // namespace shardwise
