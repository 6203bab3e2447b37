// Plans.
#include "convert.h"
#include "shardwise/plan.h"

namespace shardwise::python {
namespace {

// (shape, initializer, "eager", "jit" or None)
using Made = std::tuple<Shape, Initializer, std::optional<std::string>>;
// (name, tensor, dtype or None, view or None, placement or None, made or None)
using Variable = std::tuple<std::string, std::string, std::optional<std::string>, std::optional<View>,
                            std::optional<Placement>, std::optional<Made>>;

BindOptions bind_options(std::vector<Variable> variables, const std::optional<std::string>& float_dtype,
                         std::optional<nb::callable> select) {
  BindOptions options{.float_dtype = to_dtype(float_dtype)};
  for (auto& [name, tensor, dtype, view, placement, made] : variables) {
    VariableSpec spec{.name = std::move(name), .tensor = std::move(tensor), .dtype = to_dtype(dtype)};
    spec.view = std::move(view);
    spec.placement = std::move(placement);
    if (made) {
      auto& [shape, initializer, rounding] = *made;
      spec.generated = Generated{std::move(shape), std::move(initializer), std::nullopt};
      if (rounding) spec.generated->rounding = take(parse_rounding(*rounding));
    }
    options.variables.push_back(std::move(spec));
  }
  if (select) {
    options.select = [f = std::move(*select)](const std::string& tensor) { return nb::cast<bool>(f(tensor)); };
  }
  return options;
}

LoadPlan plan_load(const Catalog& catalog, const Distribution& distribution, std::vector<Variable> variables,
                   const std::optional<std::string>& float_dtype, std::optional<nb::callable> select,
                   std::uint64_t staging, bool retain, bool share_replicas, std::vector<std::size_t> local_devices) {
  const BindOptions bind_with = bind_options(std::move(variables), float_dtype, std::move(select));
  const PlanOptions plan_with{.staging = staging,
                              .retain = retain ? Retain::kKeep : Retain::kDiscard,
                              .replicas = share_replicas ? Replicas::kShare : Replicas::kCopy,
                              .local_devices = std::move(local_devices)};
  if (bind_with.select) return take(make_plan(bind(catalog, distribution, bind_with), plan_with));
  Result<LoadPlan> plan = [&] {
    nb::gil_scoped_release release;
    return make_plan(bind(catalog, distribution, bind_with), plan_with);
  }();
  return take(std::move(plan));
}

nb::list devices_of(const LoadPlan& plan) {
  nb::list out;
  for (const DevicePlan& d : plan.devices) {
    nb::dict row;
    row["id"] = d.info.id;
    row["local"] = d.local;
    row["bytes"] = d.bytes;
    row["peak_bytes"] = d.peak_bytes;
    row["limit_bytes"] = d.info.memory_limit == kUnlimited ? nb::none() : nb::cast(d.info.memory_limit);
    out.append(row);
  }
  return out;
}

}  // namespace

void bind_plan(nb::module_& m) {
  nb::class_<PlannedVariable>(m, "PlannedVariable", "A variable of a plan.")
      .def_ro("name", &PlannedVariable::name)
      .def_ro("tensor", &PlannedVariable::tensor)
      .def_prop_ro("dtype", [](const PlannedVariable& v) { return to_string(v.dtype); })
      .def_prop_ro("stored_dtype", [](const PlannedVariable& v) { return to_string(v.stored_dtype); })
      .def_ro("placement", &PlannedVariable::placement)
      .def_ro("view", &PlannedVariable::view)
      .def_ro("initializer", &PlannedVariable::initializer)
      .def_ro("shard_bytes", &PlannedVariable::shard_bytes);
  nb::class_<LoadPlan>(m, "LoadPlan",
                       "Everything a load will do, before the first byte is read or allocated. str() is the plan for "
                       "people, to_json() the documented form for programs. Immutable.")
      .def_ro("format", &LoadPlan::format)
      .def_ro("path", &LoadPlan::path)
      .def_ro("variables", &LoadPlan::variables, nb::rv_policy::reference_internal)
      .def_prop_ro("devices", &devices_of, "Per device: id, local, bytes, peak_bytes, limit_bytes (None = unlimited).")
      .def_prop_ro(
          "host_peak_bytes", [](const LoadPlan& p) { return p.host.peak_bytes; },
          "Predicted peak of host memory beside the arrays.")
      .def_prop_ro("bytes_to_read", [](const LoadPlan& p) { return p.reads_total.bytes; })
      .def_prop_ro("bytes_wanted", [](const LoadPlan& p) { return p.reads_total.wanted_bytes; })
      .def_prop_ro(
          "load_then_shard_device0_bytes", [](const LoadPlan& p) { return p.load_then_shard.device0_peak_bytes; },
          "What loading each tensor whole on device 0 needs there.")
      .def_prop_ro("load_then_shard_host_bytes", [](const LoadPlan& p) { return p.load_then_shard.host_peak_bytes; })
      .def_ro("unused_tensors", &LoadPlan::unused_tensors)
      .def_ro("unmatched_rules", &LoadPlan::unmatched_rules)
      .def_ro("notes", &LoadPlan::notes)
      .def(
          "check_fits", [](const LoadPlan& p) { check(check_fits(p)); },
          "Raises ResourceExhaustedError when a device cannot hold its shards.")
      .def(
          "to_text", [](const LoadPlan& p, std::size_t most) { return to_string(p, {.max_tensors = most}); },
          nb::arg("max_tensors") = 20)
      .def("to_json", [](const LoadPlan& p) { return to_json(p); })
      .def("__str__", [](const LoadPlan& p) { return to_string(p); });
  m.def(
      "plan_load", &plan_load, nb::arg("catalog"), nb::arg("distribution"), nb::kw_only(),
      nb::arg("variables") = std::vector<Variable>(), nb::arg("float_dtype") = nb::none(),
      nb::arg("select") = nb::none(), nb::arg("staging") = std::uint64_t{64_MiB}, nb::arg("retain") = true,
      nb::arg("share_replicas") = false, nb::arg("local_devices") = std::vector<std::size_t>(),
      "bind() and make_plan().\n\nvariables: (name, tensor, dtype or None, View or None, Placement or None, made or "
      "None), made = "
      "(shape, Initializer, 'eager' or 'jit' or None = as Keras chooses); empty = "
      "one per stored tensor for which select(name) is true. float_dtype: cast every floating tensor. staging: bytes "
      "of host memory for reads in flight, at least 8 MiB. retain: keep all arrays until the load ends; otherwise each "
      "goes to on_array and is dropped. share_replicas: one block per box. local_devices: those that this process "
      "fills; empty = all.\n\nRaises ValueError (rules, placements, casts: all problems together), KeyError (a tensor "
      "that the checkpoint lacks).");
}

}  // namespace shardwise::python
