#include "mesh/auto_layout.h"

#include <map>
#include <optional>

#include "base/checked.h"

namespace shardwise {
namespace {

// Elements behind one index of dimension `d`. The shape has passed element_count() and has no extent of 0.
std::int64_t elements_inside(const Shape& shape, std::size_t d) {
  std::int64_t product = 1;
  for (std::size_t i = d + 1; i < shape.size(); ++i) product *= shape[i];
  return product;
}

// The shard's contiguous run along dimension `d` is `extent / parts` times what lies inside it: whole bytes for any
// type.
bool divides(const Shape& shape, std::size_t d, std::int64_t parts, DType dtype) {
  if (shape[d] % parts != 0) return false;
  if (is_byte_sized(dtype)) return true;
  const std::int64_t eighths = (shape[d] / parts % 8) * (elements_inside(shape, d) % 8) * bit_width(dtype);
  return eighths % 8 == 0;
}

std::optional<std::size_t> largest_divisible(const Shape& shape, std::int64_t parts, DType dtype) {
  std::optional<std::size_t> best;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (divides(shape, d, parts, dtype) && (!best || shape[d] > shape[*best])) best = d;
  }
  return best;
}

}  // namespace

// Every product of some axes, each with the first combination that gives it, fewest and outermost axes first. An axis
// of size 1 splits nothing; of the others there are at most log2(kMaxDevices) = 16.
AutoRule make_auto_rule(const DeviceMesh& mesh, std::uint64_t min_bytes) {
  AutoRule rule;
  rule.min_bytes = min_bytes;
  if (!mesh.status().ok()) return rule;
  std::map<std::int64_t, std::vector<std::size_t>, std::greater<>> sets = {{1, {}}};
  for (std::size_t axis = 0; axis < mesh.shape().size(); ++axis) {
    if (mesh.shape()[axis] == 1) continue;
    auto more = sets;
    for (const auto& [parts, axes] : sets) {
      auto longer = axes;
      longer.push_back(axis);
      auto& slot = more[parts * mesh.shape()[axis]];
      if (slot.empty() || longer.size() < slot.size()) slot = longer;
    }
    sets = std::move(more);
  }
  for (const auto& [parts, axes] : sets) {
    if (parts == 1) continue;
    std::string names;
    for (std::size_t axis : axes) {
      if (!names.empty()) names += '+';
      names += mesh.axis_names()[axis];
    }
    rule.splits.push_back({parts, std::move(names)});
  }
  return rule;
}

Result<TensorLayout> auto_layout(const AutoRule& rule, const Shape& shape, DType dtype) {
  SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t elements, element_count(shape));
  TensorLayout layout{std::vector<Axis>(shape.size())};
  const auto bits = checked_mul(elements, static_cast<std::uint64_t>(bit_width(dtype)));
  const bool small = bits && ceil_div(*bits, 8) < rule.min_bytes;
  if (elements == 0 || small) return layout;
  for (const AutoRule::Split& split : rule.splits) {
    if (const auto d = largest_divisible(shape, split.parts, dtype)) {
      layout.axes[*d] = split.axes;
      break;
    }
  }
  return layout;
}

}  // namespace shardwise
