// What plan, load and bench are asked for, and how that becomes a LoadPlan.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "shardwise/catalog.h"
#include "shardwise/layout.h"
#include "shardwise/mesh.h"
#include "shardwise/plan.h"
#include "shardwise/variables.h"

namespace shardwise::cli {

// As a limit of tensors to list.
inline constexpr std::size_t kAllTensors = std::numeric_limits<std::size_t>::max();

// The options that plan, load, init and bench share.
struct Request {
  std::string path;           // of the checkpoint; empty = none: every variable of `model` is made
  std::string model;          // a built-in model or a JSON spec of variables; empty = the tensors of the checkpoint
  bool init_missing = false;  // make what the checkpoint lacks
  std::uint64_t seed = 0;     // that the initializers of `model` draw their seeds from
  std::string mesh;           // "batch=2,model=4"; empty = batch=1,model=<devices>
  std::optional<std::int64_t> devices;
  std::uint64_t device_memory = kUnlimited;
  std::string layout = "auto";          // a built-in name or a JSON file
  std::optional<MatchDialect> dialect;  // nullopt = what the layout file says
  std::optional<Uneven> uneven;
  std::string dtype;   // empty = as stored
  std::string select;  // Python regular expression, searched in tensor names; empty = all
  std::uint64_t staging = 64_MiB;
  std::vector<std::size_t> only_devices;
  Retain retain = Retain::kKeep;
  Format format = Format::kText;
  std::size_t limit = 20;  // tensors printed
};

enum class DeviceKind : std::uint8_t {
  kAbstract,  // descriptions: enough to plan
  kHost,      // simulated devices in this process
};

// A catalog and the plan made from it.
struct Prepared {
  std::unique_ptr<const Catalog> catalog;
  std::optional<LoadPlan> plan;
};

// Opens the checkpoint, if there is one, places its tensors or the model's variables, and plans the load. A plan that
// does not fit is not an error here.
StageStatus prepare(const Request& request, DeviceKind kind, Prepared& prepared);

// The steps of prepare().
Result<DeviceMesh> make_mesh(const Request& request, DeviceKind kind);
Result<Distribution> make_distribution(const Request& request, const DeviceMesh& mesh);
// The variables of request.model. Errors: NOT_FOUND when it is neither a built-in model nor a file; those of the spec.
Result<VariableTree> make_variables(const Request& request);
// Which tensors a --select expression chooses: its text is searched, in the dialect of layout rules. Null for an empty
// expression. Errors: INVALID_ARGUMENT when it is no regular expression, or chooses nothing.
Result<std::function<bool(const std::string&)>> make_selector(const std::string& expression, const Catalog& catalog);

}  // namespace shardwise::cli
