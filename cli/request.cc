#include "cli/request.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/format.h"
#include "shardwise/checkpoint.h"
#include "shardwise/device.h"
#include "shardwise/file.h"

namespace shardwise::cli {
namespace {

constexpr std::uint64_t kMaxTextFile = 64_MiB;
constexpr std::int64_t kMaxDevices = 1 << 16;

Result<std::string> read_text(const std::string& path) {
  SHARDWISE_ASSIGN_OR_RETURN(const auto file, open_file(path));
  if (file->size() > kMaxTextFile) return invalid_argument("{}: {} is too long", path, format_bytes(file->size()));
  std::string text(file->size(), '\0');
  SHARDWISE_RETURN_IF_ERROR(file->read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

Result<DType> parse_float(const std::string& name) {
  const std::pair<const char*, DType> short_names[] = {
      {"f64", DType::kFloat64}, {"f32", DType::kFloat32}, {"f16", DType::kFloat16}, {"bf16", DType::kBfloat16}};
  std::optional<DType> dtype = parse_dtype(name);
  for (const auto& [text, value] : short_names) {
    if (name == text) dtype = value;
  }
  if (!dtype || kind(*dtype) != DTypeKind::kFloat || !can_cast(DType::kFloat32, *dtype)) {
    return invalid_argument("--dtype {}: expected float64, float32, float16 or bfloat16", name);
  }
  return *dtype;
}

// The single device of a mesh that only exists to match a --select expression.
DeviceMesh matching_mesh() { return DeviceMesh({1}, {"device"}, abstract_devices(1)); }

}  // namespace

Result<DeviceMesh> make_mesh(const Request& request, DeviceKind kind) {
  MeshSpec spec{.shape = {1, request.devices.value_or(1)}, .axis_names = {"batch", "model"}};
  if (!request.mesh.empty()) {
    SHARDWISE_ASSIGN_OR_RETURN(spec, parse_mesh(request.mesh));
    if (request.devices && *request.devices != spec.size()) {
      return invalid_argument("--mesh {} has {} devices, but --devices says {}; leave one of them out", request.mesh,
                              spec.size(), *request.devices);
    }
  }
  if (spec.size() < 1 || spec.size() > kMaxDevices) {
    return invalid_argument("{} devices: a mesh has 1 to {} of them", spec.size(), kMaxDevices);
  }
  const auto count = static_cast<std::size_t>(spec.size());
  DeviceList devices = kind == DeviceKind::kHost ? host_devices(count, {.memory = request.device_memory})
                                                 : abstract_devices(count, request.device_memory);
  return DeviceMesh::create(spec.shape, spec.axis_names, std::move(devices));
}

Result<Distribution> make_distribution(const Request& request, const DeviceMesh& mesh) {
  LayoutMapOptions options;
  if (request.dialect) options.dialect = *request.dialect;
  if (request.uneven) options.uneven = *request.uneven;
  const auto names = builtin_layout_names();
  if (std::find(names.begin(), names.end(), request.layout) != names.end()) {
    return builtin_layout(request.layout, mesh, options);
  }
  const auto text = read_text(request.layout);
  if (!text.ok() && text.status().code() == Code::kNotFound) {
    return not_found("--layout {}: neither a built-in layout ({}) nor a file", request.layout, fmt::join(names, ", "));
  }
  if (!text.ok()) return text.status().with_context("--layout");
  auto distribution = parse_layout(*text, mesh, options);
  if (!distribution.ok()) return distribution.status().with_context(request.layout);
  return distribution;
}

Result<VariableTree> make_variables(const Request& request) {
  PythonRandom seeds(request.seed);
  const auto names = builtin_model_names();
  if (std::find(names.begin(), names.end(), request.model) != names.end()) return builtin_model(request.model, seeds);
  const auto text = read_text(request.model);
  if (!text.ok() && text.status().code() == Code::kNotFound) {
    return not_found("{}: neither a built-in model ({}) nor a file", request.model, fmt::join(names, ", "));
  }
  if (!text.ok()) return text.status();
  auto tree = parse_variables(*text, seeds);
  if (!tree.ok()) return tree.status().with_context(request.model);
  return tree;
}

namespace {

// See make_selector(); `names` are those of `of`.
Result<std::function<bool(const std::string&)>> select_names(const std::string& expression,
                                                             const std::vector<std::string>& names,
                                                             const std::string& of) {
  std::function<bool(const std::string&)> selector;
  if (expression.empty()) return selector;
  LayoutMap rules(matching_mesh(), {.dialect = MatchDialect::kSearch});
  rules.set(expression, TensorLayout());
  if (!rules.status().ok()) return rules.status().with_context("--select");

  auto chosen = std::make_shared<std::set<std::string>>();
  for (const std::string& name : names) {
    auto rule = rules.find_rule(name);
    if (!rule.ok()) return rule.status().with_context("--select");
    if (rule->has_value()) chosen->insert(name);
  }
  if (chosen->empty()) {
    return invalid_argument("--select '{}' matches none of the {} tensors of {}", expression, names.size(), of);
  }
  selector = [chosen](const std::string& name) { return chosen->contains(name); };
  return selector;
}

// Which variables are bound: those of the model that --select chooses, or tensors of the catalog.
Status choose_variables(const Request& request, const Catalog& catalog, BindOptions& options) {
  if (request.model.empty()) {
    SHARDWISE_ASSIGN_OR_RETURN(options.select, make_selector(request.select, catalog));
    return Status();
  }
  SHARDWISE_ASSIGN_OR_RETURN(const VariableTree tree, make_variables(request));
  options.variables = request.path.empty() ? specs(tree) : specs(tree, catalog);
  std::vector<std::string> names;
  for (const VariableSpec& spec : options.variables) names.push_back(spec.name);
  SHARDWISE_ASSIGN_OR_RETURN(const auto selector, select_names(request.select, names, request.model));
  if (selector) std::erase_if(options.variables, [&](const VariableSpec& spec) { return !selector(spec.name); });
  if (request.path.empty() || request.init_missing) return Status();
  std::set<std::string_view> stored;
  for (const TensorInfo& tensor : catalog.tensors) stored.insert(tensor.name);
  for (VariableSpec& spec : options.variables) {
    if (!stored.contains(spec.tensor)) spec.generated.reset();  // an error of bind(), which names it
  }
  return Status();
}

}  // namespace

Result<std::function<bool(const std::string&)>> make_selector(const std::string& expression, const Catalog& catalog) {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : catalog.tensors) names.push_back(tensor.name);
  return select_names(expression, names, catalog.path);
}

StageStatus prepare(const Request& request, DeviceKind kind, Prepared& prepared) {
  if (request.path.empty() && request.model.empty()) {
    return {Stage::kRequest, invalid_argument("say what: a checkpoint, or --model")};
  }
  const auto mesh = make_mesh(request, kind);
  if (!mesh.ok()) return {Stage::kRequest, mesh.status()};
  const auto distribution = make_distribution(request, *mesh);
  if (!distribution.ok()) return {Stage::kRequest, distribution.status()};
  BindOptions bind_options;
  if (!request.dtype.empty()) {
    const auto dtype = parse_float(request.dtype);
    if (!dtype.ok()) return {Stage::kRequest, dtype.status()};
    bind_options.float_dtype = *dtype;
  }

  Result<Catalog> catalog(Catalog{.format = "initializers", .path = request.model});
  if (!request.path.empty()) catalog = open_checkpoint(request.path);
  if (!catalog.ok()) return {Stage::kOpen, catalog.status()};
  prepared.catalog = std::make_unique<const Catalog>(std::move(catalog).value());

  const Status chosen = choose_variables(request, *prepared.catalog, bind_options);
  if (!chosen.ok()) return {Stage::kRequest, chosen};
  auto plan = make_plan(bind(*prepared.catalog, *distribution, bind_options),
                        {.staging = request.staging, .retain = request.retain, .local_devices = request.only_devices});
  if (!plan.ok()) return {Stage::kPlan, plan.status()};
  prepared.plan = std::move(plan).value();
  return {};
}

}  // namespace shardwise::cli
