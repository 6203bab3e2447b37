#include <algorithm>

#include "base/format.h"
#include "mesh/python_text.h"
#include "shardwise/layout.h"

namespace shardwise {

bool TensorLayout::is_replicated() const {
  return std::all_of(axes.begin(), axes.end(), [](const Axis& axis) { return !axis.has_value(); });
}

std::string to_string(const TensorLayout& layout) {
  std::string out = "(";
  for (std::size_t d = 0; d < layout.axes.size(); ++d) {
    if (d != 0) out += ", ";
    out += layout.axes[d] ? python_repr(*layout.axes[d]) : "None";
  }
  return out + (layout.axes.size() == 1 ? ",)" : ")");
}

}  // namespace shardwise
