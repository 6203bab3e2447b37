#include "shardwise/variables.h"

#include <unordered_set>

namespace shardwise {

std::uint64_t VariableTree::parameters() const {
  std::uint64_t sum = 0;
  for (const Variable& variable : variables) sum += element_count(variable.initial.shape).value();
  return sum;
}

std::vector<VariableSpec> specs(const VariableTree& tree) {
  std::vector<VariableSpec> out;
  for (const Variable& v : tree.variables) out.push_back({v.path, {}, v.dtype, std::nullopt, v.initial});
  return out;
}

std::vector<VariableSpec> specs(const VariableTree& tree, const Catalog& catalog) {
  std::unordered_set<std::string_view> stored;
  for (const TensorInfo& tensor : catalog.tensors) stored.insert(tensor.name);
  std::vector<VariableSpec> out = specs(tree);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Variable& variable = tree.variables[i];
    out[i].tensor = variable.path;
    if (stored.contains(variable.path)) continue;
    for (const StoredAs& as : variable.stored_as) {
      if (!stored.contains(as.tensor)) continue;
      out[i].tensor = as.tensor;
      if (!as.view.is_identity()) out[i].view = as.view;
      break;
    }
  }
  return out;
}

}  // namespace shardwise
