#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "base/format.h"
#include "mesh/axes.h"
#include "mesh/pattern.h"
#include "mesh/python_text.h"
#include "shardwise/layout.h"

namespace shardwise {
namespace {

constexpr std::size_t kMaxRules = 4096;

void add_once(std::vector<std::string>& names, const std::string& name) {
  for (const std::string& known : names) {
    if (known == name) return;
  }
  names.push_back(name);
}

// Keras prints the path as it is; one that could write to a terminal is escaped.
std::string without_controls(const std::string& path) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return std::any_of(path.begin(), path.end(), is_control) ? printable(path) : path;
}

}  // namespace

struct LayoutMap::State {
  State(DeviceMesh m, LayoutMapOptions o) : mesh(std::move(m)), options(o) {}

  DeviceMesh mesh;
  LayoutMapOptions options;
  std::vector<Rule> rules;
  std::vector<std::shared_ptr<const Pattern>> patterns;  // of rules
  std::unordered_map<std::string, std::size_t> keys;     // -> index into rules
  std::vector<std::string> problems;

  Status check_axes(const TensorLayout& layout, AxisSyntax syntax) const;
};

Status LayoutMap::State::check_axes(const TensorLayout& layout, AxisSyntax syntax) const {
  std::vector<std::string> got;
  bool all_known = true;
  for (const Axis& axis : layout.axes) {
    if (!axis) continue;
    add_once(got, *axis);
    const bool known =
        syntax == AxisSyntax::kCombined ? find_axes(*axis, mesh).has_value() : mesh.axis_index(*axis) >= 0;
    all_known = all_known && known;
  }
  if (all_known) return {};
  return invalid_argument("Invalid axis names for Layout. Valid axis names: {}, Got {}", python_set(mesh.axis_names()),
                          python_set(got));
}

LayoutMap::LayoutMap(DeviceMesh mesh, LayoutMapOptions options)
    : state_(std::make_shared<State>(std::move(mesh), options)) {}

LayoutMap& LayoutMap::set(const std::string& key, TensorLayout layout) {
  Status status = add(key, std::move(layout), AxisSyntax::kKeras);
  if (!status.ok()) state_->problems.push_back(status.message());
  return *this;
}

// The checks stand in Keras's order; a rule that is refused is not in the map.
Status LayoutMap::add(const std::string& key, TensorLayout layout, AxisSyntax syntax) {
  if (state_.use_count() > 1) {
    state_ = std::make_shared<State>(*state_);
  } else {
    // Another thread may have just let go of its copy: see what it did before that.
    std::atomic_thread_fence(std::memory_order_acquire);
  }
  State& state = *state_;
  if (const auto found = state.keys.find(key); found != state.keys.end()) {
    return invalid_argument(
        "{} already exist in the LayoutMap with value <TensorLayout axes={}, device_mesh={}>. Please make sure to not "
        "use "
        "duplicated keys.",
        key, to_string(state.rules[found->second].layout), state.mesh.to_string());
  }
  if (state.mesh.status().ok()) SHARDWISE_RETURN_IF_ERROR(state.check_axes(layout, syntax));
  if (state.rules.size() == kMaxRules) return invalid_argument("a LayoutMap holds at most {} rules", kMaxRules);
  auto pattern = Pattern::compile(key, state.options.dialect);
  if (!pattern.ok()) {
    return invalid_argument("Layout key {} cannot be used as a regular expression: {}", python_repr(key.substr(0, 200)),
                            pattern.status().message());
  }
  state.keys.emplace(key, state.rules.size());
  state.rules.push_back({key, std::move(layout)});
  state.patterns.push_back(std::make_shared<const Pattern>(std::move(*pattern)));
  return {};
}

Status LayoutMap::status() const {
  if (!state_->mesh.status().ok()) return state_->mesh.status();
  if (state_->problems.empty()) return {};
  return invalid_argument("{}", fmt::join(state_->problems, "\n"));
}

Result<std::optional<std::size_t>> LayoutMap::find_rule(const std::string& path) const {
  const State& state = *state_;
  if (!state.mesh.status().ok() || !state.problems.empty()) return status();
  if (const auto exact = state.keys.find(path); exact != state.keys.end()) return std::optional(exact->second);
  if (path.size() > kMaxPathBytes) {
    return resource_exhausted("Path '{}' has {} bytes; layout rules are matched with at most {}", printable(path),
                              path.size(), kMaxPathBytes);
  }
  std::string storage;
  const std::string_view subject = utf8_path(path, storage);
  MatchScratch scratch;
  std::vector<std::size_t> matching;
  for (std::size_t i = 0; i < state.rules.size(); ++i) {
    if (!state.patterns[i]->may_match(subject)) continue;
    SHARDWISE_ASSIGN_OR_RETURN(const bool matches, state.patterns[i]->matches(subject, scratch));
    if (matches) matching.push_back(i);
  }
  if (matching.empty()) return std::optional<std::size_t>();
  if (matching.size() == 1) return std::optional(matching.front());
  std::vector<std::string> keys;
  for (std::size_t i : matching) keys.push_back(state.rules[i].key);
  return invalid_argument(
      "Path '{}' matches multiple layout specification keys: {}. Please make sure each tensor/variable path only "
      "matches "
      "at most one layout specification key in the LayoutMap.",
      without_controls(path), python_list(keys));
}

Result<std::optional<TensorLayout>> LayoutMap::find(const std::string& path) const {
  SHARDWISE_ASSIGN_OR_RETURN(const auto rule, find_rule(path));
  if (!rule) return std::optional<TensorLayout>();
  return std::optional(state_->rules[*rule].layout);
}

const std::vector<LayoutMap::Rule>& LayoutMap::rules() const { return state_->rules; }
const DeviceMesh& LayoutMap::mesh() const { return state_->mesh; }
const LayoutMapOptions& LayoutMap::options() const { return state_->options; }

}  // namespace shardwise
