#include "checkpoint/keras_json/weight_map.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/format.h"
#include "checkpoint/catalog/readers.h"
#include "checkpoint/json/json.h"

namespace shardwise::keras {
namespace {

constexpr std::size_t kMaxFiles = 65536;
constexpr std::string_view kMetadata = "metadata";
constexpr std::string_view kWeightMap = "weight_map";

// Builds a WeightMap from the JSON's events. Thread-compatible. `depth_` counts open containers: 1 in the document, 2
// in a section such as weight_map, 3 in a list of files.
class Builder final : public json::Events {
 public:
  explicit Builder(const OpenOptions& options) : options_(options) {}

  Status on_key(std::string key) override;
  Status on_scalar(json::Scalar value) override;
  Status on_begin(json::Type container) override;
  Status on_end(json::Type container) override;
  Result<WeightMap> finish() &&;

 private:
  bool in_section(std::string_view section) const { return depth_ >= 2 && section_ == section; }
  Status begin_group(const std::string& key);
  Status add_file(std::string name);
  std::string where() const { return format("weight_map entry '{}'", printable(key_)); }

  const OpenOptions& options_;
  int depth_ = 0;
  std::string section_;             // key at depth 1
  std::string key_;                 // key at depth 2
  std::set<std::string> sections_;  // keys of the document
  std::set<std::string> metadata_;  // keys of metadata
  bool has_weight_map_ = false;
  std::map<std::string, std::uint32_t> numbers_;  // file -> number in the order of appearance
  std::vector<std::size_t> named_by_;             // by number: the group (counted from 1) that named it last
  std::uint64_t references_ = 0;
  std::vector<std::uint32_t>* group_ = nullptr;
  WeightMap map_;
};

Status Builder::on_key(std::string key) {
  if (depth_ == 1) {
    if (!sections_.insert(key).second) return data_loss("the key '{}' occurs twice", printable(key));
    section_ = std::move(key);
  } else if (depth_ == 2 && section_ == kWeightMap) {
    SHARDWISE_RETURN_IF_ERROR(begin_group(key));
    key_ = std::move(key);
  } else if (depth_ == 2 && section_ == kMetadata) {
    if (!metadata_.insert(key).second) return data_loss("metadata: the key '{}' occurs twice", printable(key));
    key_ = std::move(key);
  }
  return {};
}

Status Builder::on_scalar(json::Scalar value) {
  if (depth_ == 0) return data_loss("the document is {}, not an object", json::describe(value.type));
  if (depth_ == 1 && (section_ == kWeightMap || section_ == kMetadata)) {
    return data_loss("{} is {}, not an object", section_, json::describe(value.type));
  }
  if (in_section(kWeightMap)) {
    if (value.type != json::Type::kString) {
      return data_loss("{}: it names {}, not a file (a string or a list of strings)", where(),
                       json::describe(value.type));
    }
    return add_file(std::move(value.text));
  }
  if (depth_ != 2 || section_ != kMetadata || key_ != "total_size") return {};
  const bool number = value.type == json::Type::kUnsigned || value.type == json::Type::kNumber;
  if (!number) return data_loss("metadata: total_size is {}, not a number of bytes", json::describe(value.type));
  if (!std::isfinite(value.number) || value.number < 0) {
    return data_loss("metadata: total_size is {}, not a number of bytes", value.number);
  }
  map_.total_size = value.number;
  return {};
}

Status Builder::on_begin(json::Type container) {
  const bool object = container == json::Type::kObject;
  if (depth_ == 0 && !object) return data_loss("the document is {}, not an object", json::describe(container));
  if (depth_ == 1 && (section_ == kWeightMap || section_ == kMetadata)) {
    if (!object) return data_loss("{} is {}, not an object", section_, json::describe(container));
    has_weight_map_ = has_weight_map_ || section_ == kWeightMap;
  }
  if (in_section(kWeightMap) && (depth_ > 2 || object)) {
    return data_loss("{}: it holds {}, not a file (a string or a list of strings)", where(), json::describe(container));
  }
  if (depth_ == 2 && section_ == kMetadata && key_ == "total_size") {
    return data_loss("metadata: total_size is {}, not a number of bytes", json::describe(container));
  }
  ++depth_;
  return {};
}

Status Builder::on_end(json::Type) {
  --depth_;
  if (depth_ == 2 && section_ == kWeightMap && group_->empty()) return data_loss("{}: it names no file", where());
  return {};
}

Status Builder::begin_group(const std::string& key) {
  std::string group = key.starts_with('/') ? key.substr(1) : key + "/vars";
  if (group.empty() || key.empty()) return data_loss("weight_map: '{}' names no group", printable(key));
  if (map_.groups.size() >= options_.max_tensors) {
    return resource_exhausted("weight_map has more than OpenOptions::max_tensors, {}, entries", options_.max_tensors);
  }
  const auto [entry, is_new] = map_.groups.try_emplace(std::move(group));
  if (!is_new) return data_loss("weight_map: the group '/{}' occurs twice", printable(entry->first));
  group_ = &entry->second;
  return {};
}

Status Builder::add_file(std::string name) {
  SHARDWISE_RETURN_IF_ERROR(check_member_name(name, where()));
  const auto [entry, is_new] = numbers_.try_emplace(std::move(name), static_cast<std::uint32_t>(numbers_.size()));
  if (numbers_.size() > kMaxFiles) return resource_exhausted("weight_map names more than {} files", kMaxFiles);
  if (++references_ > options_.max_tensors) {
    return resource_exhausted("weight_map names files more than OpenOptions::max_tensors, {}, times",
                              options_.max_tensors);
  }
  if (is_new) named_by_.push_back(0);
  if (std::exchange(named_by_[entry->second], map_.groups.size()) == map_.groups.size()) {
    return data_loss("{}: it names the file '{}' twice", where(), printable(entry->first));
  }
  group_->push_back(entry->second);
  return {};
}

Result<WeightMap> Builder::finish() && {
  if (!has_weight_map_) return data_loss("there is no weight_map (not the index of a sharded Keras checkpoint?)");
  std::vector<std::uint32_t> sorted(numbers_.size());
  for (auto& [name, number] : numbers_) {
    sorted[number] = static_cast<std::uint32_t>(map_.files.size());
    map_.files.push_back(name);
  }
  for (auto& [group, files] : map_.groups) {
    for (std::uint32_t& file : files) file = sorted[file];
    std::sort(files.begin(), files.end());
  }
  return std::move(map_);
}

}  // namespace

Result<WeightMap> parse_weight_map(std::string_view json, const OpenOptions& options) {
  Builder builder(options);
  SHARDWISE_RETURN_IF_ERROR(json::parse(json, builder));
  return std::move(builder).finish();
}

}  // namespace shardwise::keras
