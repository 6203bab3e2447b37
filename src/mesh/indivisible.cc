#include "mesh/indivisible.h"

#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "base/format.h"
#include "mesh/python_text.h"

namespace shardwise {

std::string indivisible_text(const IndivisibleDimension& found, const Shape& shape) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t size = 1; size <= std::min<std::int64_t>(2 * found.parts, 1024); ++size) {
    if (found.extent % size == 0) divisors.push_back(size);
  }
  const std::int64_t below = found.extent - found.extent % found.parts;
  std::string sizes = below > 0 ? format("{}", below) : std::string();
  if (const auto above = checked_add(below, found.parts)) sizes += format("{}{}", below > 0 ? " or " : "", *above);
  return format(
      "array axis {} is partitioned {} times by mesh axis {}, but the dimension size is {} (full shape: {}); {} is "
      "divisible by {}, and {} would be divisible by {}; or let it stay whole with uneven=replicate",
      found.dimension, found.parts, python_repr(found.axes), found.extent, to_string(shape), found.extent,
      fmt::join(divisors, ", "), sizes, found.parts);
}

std::string stays_whole_text(const IndivisibleDimension& found) {
  return format("dimension {} stays whole: its size {} is not divisible by {} (mesh axis {})", found.dimension,
                found.extent, found.parts, python_repr(found.axes));
}

}  // namespace shardwise
