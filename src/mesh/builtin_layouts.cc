#include "mesh/builtin_layouts.h"

#include "base/format.h"
#include "mesh/python_text.h"
#include "shardwise/layout.h"

namespace shardwise {
namespace {

// The mesh's axes that play the two roles of the tables; nullopt leaves a role's dimensions whole.
struct Roles {
  Axis model;
  Axis batch;
};

Result<Roles> find_roles(const std::string& name, const DeviceMesh& mesh) {
  Roles roles;
  for (const char* axis : {"batch", "data"}) {
    if (!roles.batch && mesh.axis_index(axis) >= 0) roles.batch = axis;
  }
  if (mesh.axis_index("model") >= 0) roles.model = "model";
  if (roles.model || roles.batch) return roles;
  return invalid_argument(
      "Layout '{}' splits by mesh axes named 'model' and 'batch' (or 'data'), but the mesh has {}; name the axes so, "
      "or "
      "write a layout with these names",
      name, python_list(mesh.axis_names()));
}

TensorLayout to_layout(std::string_view axes, const Roles& roles) {
  TensorLayout layout;
  while (!axes.empty()) {
    const auto blank = axes.find(' ');
    const std::string_view word = axes.substr(0, blank);
    axes.remove_prefix(blank == std::string_view::npos ? axes.size() : blank + 1);
    layout.axes.push_back(word == "model" ? roles.model : word == "batch" ? roles.batch : Axis());
  }
  return layout;
}

Result<Distribution> from_rules(const std::string& name, std::span<const BuiltinRule> rules, const DeviceMesh& mesh,
                                LayoutMapOptions options) {
  SHARDWISE_ASSIGN_OR_RETURN(const Roles roles, find_roles(name, mesh));
  options.dialect = MatchDialect::kFullMatch;
  options.unmatched = UnmatchedRules::kIgnore;
  LayoutMap map(mesh, options);
  for (const BuiltinRule& rule : rules) map.set(std::string(rule.key), to_layout(rule.axes, roles));
  SHARDWISE_RETURN_IF_ERROR(map.status());
  return Distribution(ModelParallel(std::move(map), roles.batch.value_or(std::string())));
}

}  // namespace

Result<Distribution> builtin_layout(const std::string& name, const DeviceMesh& mesh, LayoutMapOptions options) {
  SHARDWISE_RETURN_IF_ERROR(mesh.status());
  if (name == "gemma") return from_rules(name, gemma_rules(), mesh, options);
  if (name == "llama") return from_rules(name, llama_rules(), mesh, options);
  if (name == "bert") return from_rules(name, bert_rules(), mesh, options);
  if (name == "replicated") return Distribution(DataParallel(mesh));
  if (name == "auto") return Distribution(AutoParallel(mesh));
  return invalid_argument("'{}' is not a built-in layout; known: {}", printable(name),
                          fmt::join(builtin_layout_names(), ", "));
}

std::vector<std::string> builtin_layout_names() { return {"gemma", "llama", "bert", "replicated", "auto"}; }

}  // namespace shardwise
