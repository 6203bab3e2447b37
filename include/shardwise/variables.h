// Variables to be initialised or loaded: read from a JSON spec, or of a built-in model.
//
//   PythonRandom seeds(1337);                                     // as keras.utils.set_random_seed(1337)
//   SHARDWISE_ASSIGN_OR_RETURN(VariableTree model, builtin_model("gemma2_9b", seeds));
//   bind(catalog, distribution, {.variables = specs(model)})      // all made; specs(model, catalog): what it has,
//   loaded
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shardwise/catalog.h"
#include "shardwise/initializer.h"
#include "shardwise/plan.h"
#include "shardwise/seed.h"
#include "shardwise/status.h"
#include "shardwise/view.h"

namespace shardwise {

// One way in which a checkpoint may hold a variable: a tensor, and the view of it that is the variable.
struct StoredAs {
  std::string tensor;
  View view;
};

struct Variable {
  std::string path;
  std::optional<DType> dtype;       // nullopt = BindOptions::float_dtype, else float32
  Generated initial;                // shape, initializer with its seed, rounding
  std::vector<StoredAs> stored_as;  // besides a tensor of the variable's own name; the first that a catalog has counts
};

struct VariableTree {
  std::string name;  // of the model, or what the spec was called
  std::vector<Variable> variables;

  // Elements of all variables.
  std::uint64_t parameters() const;
};

// {"variables": [{"name": "dense/kernel", "shape": [64, 32], "dtype": "float32", "initializer": "glorot_uniform" or
//   {"class_name": "GlorotUniform", "config": {"seed": 42}}, "rounding": "eager" | "jit" | "keras"}, ...]}
// "dtype", "initializer" (zeros) and "rounding" (eager) may be left out. Initializers without a seed take the next that
// Keras would draw from `seeds`, in the order of the text. docs/init.md describes it all.
//
// The text is not trusted. Errors: INVALID_ARGUMENT for what is not JSON, names the schema lacks, wrong types, repeated
// names, shapes that overflow, unknown initializers; RESOURCE_EXHAUSTED beyond 16 MiB of text or 2^20 variables.
Result<VariableTree> parse_variables(std::string_view json, PythonRandom& seeds);

// The variables of a Keras Hub backbone, in its order, with the seeds that it would draw from `seeds`.
// Errors: NOT_FOUND with the names of those there are.
Result<VariableTree> builtin_model(std::string_view name, PythonRandom& seeds);
std::vector<std::string> builtin_model_names();

// For BindOptions::variables: every variable made; or loaded where the catalog has it, and else made.
std::vector<VariableSpec> specs(const VariableTree& tree);
std::vector<VariableSpec> specs(const VariableTree& tree, const Catalog& catalog);

}  // namespace shardwise
