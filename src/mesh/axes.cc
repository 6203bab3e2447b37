#include "mesh/axes.h"

namespace shardwise {

std::optional<std::vector<std::size_t>> find_axes(const std::string& entry, const DeviceMesh& mesh) {
  if (const int whole = mesh.axis_index(entry); whole >= 0) return std::vector{static_cast<std::size_t>(whole)};
  if (entry.find('+') == std::string::npos) return std::nullopt;
  std::vector<std::size_t> axes;
  for (std::size_t begin = 0; begin <= entry.size();) {
    const std::size_t end = std::min(entry.find('+', begin), entry.size());
    const int axis = mesh.axis_index(entry.substr(begin, end - begin));
    if (axis < 0) return std::nullopt;
    axes.push_back(static_cast<std::size_t>(axis));
    begin = end + 1;
  }
  return axes;
}

}  // namespace shardwise
