#include <algorithm>
#include <unordered_map>

#include "base/format.h"
#include "shardwise/plan.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kLarge = 1_MiB;  // replicated variables from here on are reported
constexpr std::size_t kMaxProblemsShown = 20;

// Gathers the bindings of all variables and every problem on the way.
class Binder {
 public:
  Binder(const Catalog& catalog, const Distribution& distribution, const BindOptions& options)
      : catalog_(catalog),
        distribution_(distribution),
        options_(options),
        out_{&catalog, distribution.mesh(), {}, {}, {}, {}, {}},
        used_(catalog.tensors.size(), false) {}

  Result<Bindings> run() {
    if (distribution_.rules() != nullptr) rule_used_.resize(distribution_.rules()->rules().size(), false);
    if (options_.variables.empty()) {
      for (std::size_t t = 0; t < catalog_.tensors.size(); ++t) {
        const TensorInfo& tensor = catalog_.tensors[t];
        if (options_.select && !options_.select(tensor.name)) continue;
        add({.name = tensor.name, .tensor = tensor.name}, t, View::of(tensor.shape));
      }
    } else {
      add_listed();
    }
    if (!problems_.empty()) return too_bad();
    report();
    return std::move(out_);
  }

 private:
  void add_listed() {
    std::unordered_map<std::string_view, std::size_t> by_name;
    for (std::size_t t = 0; t < catalog_.tensors.size(); ++t) by_name.emplace(catalog_.tensors[t].name, t);
    for (const VariableSpec& variable : options_.variables) {
      const auto at = by_name.find(variable.tensor);
      if (at == by_name.end() && variable.generated) {
        add_generated(variable);
        continue;
      }
      if (at == by_name.end()) {
        missing_ = true;
        problem(format("variable '{}': {} has no tensor '{}'", variable.name, catalog_.path, variable.tensor));
        continue;
      }
      const TensorInfo& tensor = catalog_.tensors[at->second];
      View view = variable.view.value_or(View::of(tensor.shape));
      if (view.source_shape() != tensor.shape) {
        problem(format("variable '{}': its view starts from shape {}, but tensor '{}' has shape {}", variable.name,
                       to_string(view.source_shape()), tensor.name, to_string(tensor.shape)));
        continue;
      }
      if (variable.generated && view.shape() != variable.generated->shape) {
        problem(format("variable '{}' has shape {}, but tensor '{}' gives {}", variable.name,
                       to_string(variable.generated->shape), tensor.name, to_string(view.shape())));
        continue;
      }
      add(variable, at->second, std::move(view));
    }
  }

  void add_generated(const VariableSpec& variable) {
    Generated generated = *variable.generated;
    const DType dtype = variable.dtype.value_or(options_.float_dtype.value_or(DType::kFloat32));
    Status fine = byte_count(generated.shape, dtype).status();
    if (fine.ok()) fine = check(generated.initializer, generated.shape, dtype);
    if (!fine.ok()) return problem(format("variable '{}': {}", variable.name, fine.message()));
    if (!generated.rounding) generated.rounding = keras_rounding(generated.shape, distribution_.mesh().size());
    place_variable({variable.name, dtype, 0, View::of(generated.shape), {}, std::move(generated)}, variable.placement);
  }

  void add(const VariableSpec& variable, std::size_t index, View view) {
    const std::string& name = variable.name;
    std::optional<DType> dtype = variable.dtype;
    const TensorInfo& tensor = catalog_.tensors[index];
    used_[index] = true;
    if (!dtype && options_.float_dtype && kind(tensor.dtype) == DTypeKind::kFloat && bit_width(tensor.dtype) >= 16) {
      dtype = options_.float_dtype;
    }
    const DType target = dtype.value_or(tensor.dtype);
    if (!can_cast(tensor.dtype, target)) {
      problem(format("variable '{}': {} cannot be converted to {}", name, to_string(tensor.dtype), to_string(target)));
      return;
    }
    place_variable({name, target, index, std::move(view), {}, std::nullopt}, variable.placement);
  }

  void place_variable(Binding binding, const std::optional<Placement>& given) {
    if (given) return place_as_given(std::move(binding), *given);
    const Shape& shape = binding.view.shape();
    const auto choice = distribution_.variable_layout(binding.name, shape, binding.dtype);
    if (!choice.ok()) return problem(choice.status().message());
    if (choice->rule) rule_used_[*choice->rule] = true;
    auto placement = place(binding.name, shape, choice->layout, distribution_.mesh(), distribution_.uneven());
    if (!placement.ok()) return problem(placement.status().message());
    for (std::string& note : placement->notes) out_.notes.push_back(note);
    binding.placement = std::move(placement).value();
    out_.bindings.push_back(std::move(binding));
  }

  void place_as_given(Binding binding, const Placement& placement) {
    const std::string& name = binding.name;
    if (placement.shape != binding.view.shape()) {
      return problem(format("variable '{}': its placement is of shape {}, but its values have shape {}", name,
                            to_string(placement.shape), to_string(binding.view.shape())));
    }
    if (placement.device_box.size() != distribution_.mesh().size()) {
      return problem(format("variable '{}': its placement is for {} devices, the mesh has {}", name,
                            placement.device_box.size(), distribution_.mesh().size()));
    }
    if (auto bytes = byte_count(placement.shard_shape, binding.dtype); !bytes.ok()) {
      return problem(format("variable '{}': {}", name, bytes.status().message()));
    }
    binding.placement = placement;
    out_.bindings.push_back(std::move(binding));
  }

  void report() {
    report_unmatched();
    for (const Binding& binding : out_.bindings) {
      const std::size_t copies = binding.placement.replicas();
      if (binding.placement.boxes.size() != 1 || copies < 2) continue;
      const std::uint64_t bytes = byte_count(binding.placement.shape, binding.dtype).value();
      if (bytes >= kLarge) out_.replicated.push_back({binding.name, bytes, bytes * (copies - 1)});
    }
    std::stable_sort(out_.replicated.begin(), out_.replicated.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    for (std::size_t t = 0; t < used_.size(); ++t) {
      if (!used_[t]) out_.unused_tensors.push_back(catalog_.tensors[t].name);
    }
    out_.notes.insert(out_.notes.end(), catalog_.warnings.begin(), catalog_.warnings.end());
  }

  // Of maps for several families of names only when nothing at all matched: then it is the wrong map.
  void report_unmatched() {
    const LayoutMap* rules = distribution_.rules();
    if (rules == nullptr) return;
    const bool some = std::find(rule_used_.begin(), rule_used_.end(), true) != rule_used_.end();
    if (some && rules->options().unmatched == UnmatchedRules::kIgnore) return;
    for (std::size_t r = 0; r < rule_used_.size(); ++r) {
      if (!rule_used_[r]) out_.unmatched_rules.push_back(rules->rules()[r].key);
    }
  }

  void problem(std::string text) { problems_.push_back(std::move(text)); }

  Status too_bad() const {
    std::string text = problems_[0];
    for (std::size_t i = 1; i < std::min(problems_.size(), kMaxProblemsShown); ++i) text += "\n" + problems_[i];
    if (problems_.size() > kMaxProblemsShown) text += format("\n... and {} more", problems_.size() - kMaxProblemsShown);
    return missing_ ? not_found(std::move(text)) : invalid_argument(std::move(text));
  }

  const Catalog& catalog_;
  const Distribution& distribution_;
  const BindOptions& options_;
  Bindings out_;
  std::vector<bool> used_;
  std::vector<bool> rule_used_;
  std::vector<std::string> problems_;
  bool missing_ = false;
};

}  // namespace

Result<Bindings> bind(const Catalog& catalog, const Distribution& distribution, const BindOptions& options) {
  SHARDWISE_RETURN_IF_ERROR(distribution.status());
  SHARDWISE_RETURN_IF_ERROR(distribution.mesh().status());
  return Binder(catalog, distribution, options).run();
}

}  // namespace shardwise
