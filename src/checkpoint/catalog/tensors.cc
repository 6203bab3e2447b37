#include "checkpoint/catalog/tensors.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/format.h"

namespace shardwise {
namespace {

// (file, first byte) of the extent that comes first on storage.
std::pair<std::uint32_t, std::uint64_t> first_byte(const TensorInfo& tensor) {
  std::pair<std::uint32_t, std::uint64_t> first{Extent::kNoFile, ~std::uint64_t{0}};
  for (const Extent& extent : tensor.extents) first = std::min(first, std::pair{extent.file, extent.range.begin});
  return first;
}

}  // namespace

Status check_names(const std::vector<TensorInfo>& tensors) {
  std::unordered_set<std::string_view> seen;
  seen.reserve(tensors.size());
  for (const TensorInfo& tensor : tensors) {
    if (tensor.name.find('\0') != std::string::npos) {
      return data_loss("tensor '{}': the name holds a NUL character, which would hide its tail from other programs",
                       printable(tensor.name));
    }
    if (!seen.insert(tensor.name).second) {
      return data_loss("tensor '{}' is there twice; which of the two is meant cannot be known", printable(tensor.name));
    }
  }
  return {};
}

void sort_by_first_byte(std::vector<TensorInfo>& tensors) {
  using Key = std::tuple<std::pair<std::uint32_t, std::uint64_t>, std::size_t>;
  std::vector<Key> keys;
  keys.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) keys.emplace_back(first_byte(tensors[i]), i);
  std::sort(keys.begin(), keys.end());
  std::vector<TensorInfo> sorted;
  sorted.reserve(tensors.size());
  for (const Key& key : keys) sorted.push_back(std::move(tensors[std::get<1>(key)]));
  tensors = std::move(sorted);
}

Status in_file(const Status& status, const std::string& path) {
  return status.message().starts_with(path + ": ") ? status : status.with_context(path);
}

}  // namespace shardwise
