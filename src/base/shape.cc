#include "shardwise/shape.h"

#include <algorithm>
#include <cassert>

#include "base/checked.h"
#include "base/format.h"

namespace shardwise {

std::string to_string(const Shape& shape) {
  if (shape.size() == 1) return format("({},)", shape[0]);
  return format("({})", fmt::join(shape, ", "));
}

Result<std::uint64_t> element_count(const Shape& shape) {
  if (shape.size() > kMaxRank) return invalid_argument("rank {} is above the limit of {}", shape.size(), kMaxRank);
  std::int64_t product = 1;
  bool overflow = false;
  bool empty = false;
  for (std::int64_t extent : shape) {
    if (extent < 0) return invalid_argument("shape {} has a negative extent", to_string(shape));
    if (extent == 0) empty = true;
    const auto next = checked_mul(product, extent == 0 ? std::int64_t{1} : extent);
    if (!next) overflow = true;
    product = next.value_or(1);
  }
  // An empty tensor whose other extents overflow is refused too: strides could not be formed.
  if (overflow) return invalid_argument("shape {} has more than 2^63 elements", to_string(shape));
  return empty ? 0 : static_cast<std::uint64_t>(product);
}

Result<std::uint64_t> byte_count(const Shape& shape, DType dtype) {
  SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t elements, element_count(shape));
  const auto bits = checked_mul(elements, static_cast<std::uint64_t>(bit_width(dtype)));
  if (!bits) return invalid_argument("shape {} of {} has too many bytes", to_string(shape), to_string(dtype));
  if (*bits % 8 != 0) {
    return invalid_argument("{} elements of {} do not fill whole bytes", elements, to_string(dtype));
  }
  return *bits / 8;
}

std::uint64_t Box::elements() const {
  std::uint64_t product = 1;
  for (std::int64_t e : extent) product *= static_cast<std::uint64_t>(e);
  return product;
}

std::string to_string(const Box& box) {
  std::string out = "[";
  for (std::size_t d = 0; d < box.rank(); ++d) {
    if (d != 0) out += ", ";
    out += format("{}:{}", box.origin[d], box.origin[d] + box.extent[d]);
  }
  return out + "]";
}

bool fits(const Box& box, const Shape& shape) {
  if (box.origin.size() != shape.size() || box.extent.size() != shape.size()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (box.origin[d] < 0 || box.extent[d] < 0 || box.origin[d] > shape[d]) return false;
    if (box.extent[d] > shape[d] - box.origin[d]) return false;
  }
  return true;
}

Box intersect(const Box& a, const Box& b) {
  assert(a.rank() == b.rank());
  Box out = a;
  for (std::size_t d = 0; d < a.rank(); ++d) {
    const std::int64_t begin = std::max(a.origin[d], b.origin[d]);
    const std::int64_t end = std::min(a.origin[d] + a.extent[d], b.origin[d] + b.extent[d]);
    out.origin[d] = begin;
    out.extent[d] = std::max<std::int64_t>(0, end - begin);
  }
  return out;
}

}  // namespace shardwise
