#include "checkpoint/folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/format.h"
#include "checkpoint/catalog/readers.h"

namespace shardwise {
namespace {

constexpr std::string_view kIndexSuffix = ".safetensors.index.json";
constexpr std::string_view kMainIndex = "model.safetensors.index.json";
constexpr std::string_view kTensorsSuffix = ".safetensors";
constexpr std::string_view kKerasWeights = "model.weights.h5";

struct Listing {
  std::vector<std::string> indexes;
  std::vector<std::string> tensors;
  int keras_files = 0;  // of the three of a .keras archive
  bool keras_weights = false;
};

Result<Listing> list(const std::string& folder) {
  Listing out;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(kIndexSuffix)) out.indexes.push_back(name);
    if (name.ends_with(kTensorsSuffix)) out.tensors.push_back(name);
    if (name == kKerasWeights) out.keras_weights = true;
    if (name == kKerasWeights || name == "config.json" || name == "metadata.json") ++out.keras_files;
  }
  if (error == std::errc::permission_denied) return permission_denied("{}: {}", folder, error.message());
  if (error) return unavailable("{}: {}", folder, error.message());
  std::sort(out.indexes.begin(), out.indexes.end());
  std::sort(out.tensors.begin(), out.tensors.end());
  return out;
}

Result<std::string> choose(const Listing& files, const std::string& folder) {
  const auto main = std::find(files.indexes.begin(), files.indexes.end(), kMainIndex);
  if (main != files.indexes.end()) return *main;
  for (const auto* names : {&files.indexes, &files.tensors}) {
    if (names->size() == 1) return names->front();
    if (names->size() > 1) {
      return not_found("{}: the folder holds {} checkpoints and no {}; open one of them: {}", folder, names->size(),
                       kMainIndex, printable(format("{}", fmt::join(*names, ", "))));
    }
  }
  if (files.keras_files == 3) return std::string(kKerasWeights);
  if (files.keras_weights) {
    return not_found(
        "{}: an unpacked .keras archive also has config.json and metadata.json; to read the weights alone, "
        "open {} itself",
        folder, kKerasWeights);
  }
  return not_found(
      "{}: no checkpoint in this folder: no {}, .safetensors file or unpacked .keras archive (.h5, .keras "
      "and .weights.json files are opened by their own path)",
      folder, kMainIndex);
}

}  // namespace

Result<std::string> find_in_folder(const std::string& folder) {
  SHARDWISE_ASSIGN_OR_RETURN(const Listing files, list(folder));
  SHARDWISE_ASSIGN_OR_RETURN(const std::string name, choose(files, folder));
  SHARDWISE_RETURN_IF_ERROR(check_stays_inside(folder, name));
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace shardwise
