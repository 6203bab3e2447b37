#include <algorithm>
#include <array>

#include "base/format.h"
#include "nn/model_tree.h"
#include "shardwise/variables.h"

namespace shardwise {
namespace {

enum class Family : std::uint8_t { kGemma, kGemma2, kLlama };

struct BuiltinModel {
  Family family;
  DecoderSizes sizes;
};

// The presets of Keras Hub.
constexpr std::array kModels = {
    BuiltinModel{Family::kGemma, {"gemma_2b", 256000, 18, 2048, 8, 1, 256, 16384}},
    BuiltinModel{Family::kGemma, {"gemma_7b", 256000, 28, 3072, 16, 16, 256, 24576}},
    BuiltinModel{Family::kGemma2, {"gemma2_2b", 256000, 26, 2304, 8, 4, 256, 9216}},
    BuiltinModel{Family::kGemma2, {"gemma2_9b", 256000, 42, 3584, 16, 8, 256, 14336}},
    BuiltinModel{Family::kGemma2, {"gemma2_27b", 256000, 46, 4608, 32, 16, 128, 36864}},
    BuiltinModel{Family::kLlama, {"llama3_8b", 128256, 32, 4096, 32, 8, 128, 14336}},
};

}  // namespace

std::vector<std::string> builtin_model_names() {
  std::vector<std::string> names;
  for (const BuiltinModel& model : kModels) names.emplace_back(model.sizes.name);
  return names;
}

Result<VariableTree> builtin_model(std::string_view name, PythonRandom& seeds) {
  const auto* model =
      std::find_if(kModels.begin(), kModels.end(), [&](const BuiltinModel& m) { return m.sizes.name == name; });
  if (model == kModels.end()) {
    return not_found("no built-in model '{}'; there are: {}", printable(name), fmt::join(builtin_model_names(), ", "));
  }
  if (model->family == Family::kLlama) return llama_tree(model->sizes, seeds);
  return gemma_tree(model->sizes, model->family == Family::kGemma2, seeds);
}

}  // namespace shardwise
