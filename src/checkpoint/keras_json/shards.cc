#include "checkpoint/keras_json/shards.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/format.h"
#include "checkpoint/catalog/tensors.h"
#include "checkpoint/keras_h5/append.h"

namespace shardwise::keras {
namespace {

constexpr std::size_t kMaxWarnings = 20;

// "0", "1", "10": how Keras numbers the variables of a layer. Other keys are names of their own.
std::optional<std::uint64_t> variable_number(std::string_view key) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  const bool whole = error == std::errc() && end == key.data() + key.size();
  if (!whole || (key.size() > 1 && key[0] == '0')) return std::nullopt;
  return number;
}

// Keras counts a bool as one bit.
double keras_bytes(const TensorInfo& tensor) {
  return static_cast<double>(tensor.bytes()) / (tensor.dtype == DType::kBool ? 8 : 1);
}

}  // namespace

ShardCollector::ShardCollector(std::string path, const WeightMap& map) : map_(map) {
  catalog_.format = "keras-json";
  catalog_.path = std::move(path);
  for (const auto& [group, files] : map.groups) groups_[group].files = &files;
}

ShardCollector::Group* ShardCollector::owner(std::string_view tensor, std::string_view* key) {
  for (auto slash = tensor.rfind('/'); slash != std::string_view::npos && slash != 0;
       slash = tensor.rfind('/', slash - 1)) {
    const auto found = groups_.find(tensor.substr(0, slash));
    if (found == groups_.end()) continue;
    *key = tensor.substr(slash + 1);
    return &found->second;
  }
  return nullptr;
}

Status ShardCollector::count(const std::string& tensor, std::string_view key, std::uint32_t number, Group& group) {
  const auto [before, is_new] = seen_.try_emplace(tensor, number);
  if (!is_new) {
    return data_loss("variable '{}' is stored in {} and in {} (shards of two checkpoints mixed?)", printable(tensor),
                     map_.files[before->second], map_.files[number]);
  }
  if (group.holders.empty() || group.holders.back() != number) group.holders.push_back(number);
  if (const auto n = variable_number(key)) {
    ++group.numbered;
    group.end_number = std::max(group.end_number, *n == ~std::uint64_t{0} ? *n : *n + 1);
  }
  return {};
}

Status ShardCollector::add(std::uint32_t number, CatalogFile file, hdf5::Contents contents) {
  std::vector<TensorInfo> kept;
  for (TensorInfo& tensor : contents.datasets) {
    std::string_view key;
    Group* group = owner(tensor.name, &key);
    if (group == nullptr || !std::binary_search(group->files->begin(), group->files->end(), number)) {
      if (left_out_++ == 0) first_left_out_ = format("'{}' in {}", printable(tensor.name), map_.files[number]);
      continue;
    }
    SHARDWISE_RETURN_IF_ERROR(count(tensor.name, key, number, *group));
    kept.push_back(std::move(tensor));
  }
  append_metadata(contents.groups, catalog_);
  const Location location{.file = static_cast<std::uint32_t>(catalog_.files.size())};
  catalog_.files.push_back(std::move(file));
  return append_datasets(std::move(kept), contents.encodings, location, catalog_);
}

std::string ShardCollector::list_files(const Group& group) const {
  constexpr std::size_t kMost = 4;
  std::string out;
  for (std::size_t i = 0; i < group.files->size(); ++i) {
    if (i == kMost) return out + format(" and {} more", group.files->size() - kMost);
    out += (i == 0 ? "" : ", ") + map_.files[(*group.files)[i]];
  }
  return out;
}

Status ShardCollector::check_group(const std::string& path, const Group& group) const {
  if (group.holders.empty()) {
    return data_loss(
        "the group '/{}' holds no variables in {}, where weight_map puts it (shard of another checkpoint?)",
        printable(path), list_files(group));
  }
  if (group.numbered == group.end_number) return {};
  std::uint64_t missing = 0;
  while (seen_.contains(format("{}/{}", path, missing))) ++missing;
  return data_loss(
      "variable '{}/{}' is in none of {}, where weight_map puts the group; the group has {} numbered "
      "variables up to '{}' (shard of another checkpoint?)",
      printable(path), missing, list_files(group), group.numbered, group.end_number - 1);
}

void ShardCollector::warn(std::string text) {
  if (catalog_.warnings.size() < kMaxWarnings) {
    catalog_.warnings.push_back(std::move(text));
  } else {
    ++suppressed_;
  }
}

void ShardCollector::warn_about_files(const std::string& path, const Group& group) {
  for (const std::uint32_t file : *group.files) {
    if (std::binary_search(group.holders.begin(), group.holders.end(), file)) continue;
    if (catalog_.warnings.size() == kMaxWarnings) {
      ++suppressed_;
      continue;
    }
    warn(format("weight_map lists {} for the group '/{}', but it holds none of its variables", map_.files[file],
                printable(path)));
  }
}

void ShardCollector::warn_about_size() {
  if (!map_.total_size) return;
  double bytes = 0;
  double stored = 0;
  for (const TensorInfo& tensor : catalog_.tensors) {
    bytes += keras_bytes(tensor);
    stored += static_cast<double>(tensor.bytes());
  }
  if (*map_.total_size == bytes || *map_.total_size == stored) return;
  warn(format("metadata.total_size is {} bytes but the variables take {}", *map_.total_size, stored));
}

Result<Catalog> ShardCollector::finish() && {
  for (const auto& [view, group] : groups_) {
    const std::string path(view);
    SHARDWISE_RETURN_IF_ERROR(check_group(path, group));
    warn_about_files(path, group);
  }
  if (left_out_ > 0) {
    warn(format("{} stored variables are not where weight_map puts their group and are left out, first {}", left_out_,
                first_left_out_));
  }
  warn_about_size();
  if (suppressed_ > 0) catalog_.warnings.push_back(format("{} more warnings", suppressed_));
  SHARDWISE_RETURN_IF_ERROR(check_names(catalog_.tensors));
  sort_by_first_byte(catalog_.tensors);
  return std::move(catalog_);
}

}  // namespace shardwise::keras
