#include "checkpoint/safetensors/index.h"

#include <utility>

#include "base/format.h"
#include "checkpoint/json/json.h"

namespace shardwise::safetensors {
namespace {

// Collects an Index from JSON events. Thread-compatible.
class IndexEvents final : public json::Events {
 public:
  explicit IndexEvents(std::uint64_t max_tensors) : max_tensors_(max_tensors) {}
  Index take() { return std::move(index_); }

  Status on_key(std::string key) override {
    if (depth_ == 1) return section(key);
    key_ = std::move(key);
    return {};
  }

  Status on_scalar(json::Scalar value) override {
    if (depth_ == 0) return wrong_root(value.type);
    if (depth_ == 1) return section_value(value.type);
    if (depth_ > 2) return {};
    if (section_ == Section::kMap) return map_entry(std::move(value));
    if (section_ == Section::kMetadata) metadata_entry(std::move(value));
    return {};
  }

  Status on_begin(json::Type type) override {
    const bool object = type == json::Type::kObject;
    if (depth_ == 0 && !object) return wrong_root(type);
    if (depth_ == 1 && !object) SHARDWISE_RETURN_IF_ERROR(section_value(type));
    if (depth_ == 2 && section_ == Section::kMap) return wrong_file(type);
    ++depth_;
    return {};
  }

  Status on_end(json::Type) override {
    if (--depth_ == 0 && index_.weight_map.empty()) {
      return data_loss(has_map_ ? "weight_map names no tensor"
                                : "there is no weight_map: not an index of a checkpoint");
    }
    return {};
  }

 private:
  enum class Section : std::uint8_t { kOther, kMetadata, kMap };

  Status section(const std::string& key) {
    section_ = Section::kOther;
    bool* seen = nullptr;
    if (key == "weight_map") {
      section_ = Section::kMap;
      seen = &has_map_;
    } else if (key == "metadata") {
      section_ = Section::kMetadata;
      seen = &has_metadata_;
    }
    if (seen != nullptr && std::exchange(*seen, true)) return data_loss("'{}' is there twice", key);
    return {};
  }

  // A section that is not an object.
  Status section_value(json::Type type) {
    if (section_ == Section::kMap) {
      return data_loss("weight_map is {}, not an object of tensor and file names", describe(type));
    }
    if (section_ == Section::kMetadata && type != json::Type::kNull) {
      index_.warnings.push_back(format("metadata is {}, not an object; it is ignored", describe(type)));
      section_ = Section::kOther;
    }
    return {};
  }

  Status map_entry(json::Scalar value) {
    if (value.type != json::Type::kString) return wrong_file(value.type);
    if (index_.weight_map.size() >= max_tensors_) {
      return resource_exhausted("weight_map names more than {} tensors (OpenOptions::max_tensors)", max_tensors_);
    }
    const auto file = index_.files.try_emplace(std::move(value.text), 0).first;
    ++file->second;
    index_.weight_map.push_back({std::move(key_), file->first});
    return {};
  }

  void metadata_entry(json::Scalar value) {
    const bool number = value.type == json::Type::kUnsigned || value.type == json::Type::kNumber;
    if (key_ == "total_size") {
      if (number) index_.total_size = value.number;
      if (!number) index_.warnings.push_back(format("metadata.total_size is {}, not a number", describe(value.type)));
    } else if (value.type == json::Type::kString) {
      index_.metadata.insert_or_assign(std::move(key_), std::move(value.text));
    }
  }

  static Status wrong_root(json::Type type) { return data_loss("the index is {}, not a JSON object", describe(type)); }
  Status wrong_file(json::Type type) const {
    return data_loss("weight_map '{}' is {}, not the name of a file", printable(key_), describe(type));
  }

  std::uint64_t max_tensors_;
  Index index_;
  Section section_ = Section::kOther;
  std::string key_;
  int depth_ = 0;
  bool has_map_ = false;
  bool has_metadata_ = false;
};

}  // namespace

Result<Index> parse_index(std::string_view json, std::uint64_t max_tensors) {
  IndexEvents events(max_tensors);
  SHARDWISE_RETURN_IF_ERROR(json::parse(json, events));
  return events.take();
}

}  // namespace shardwise::safetensors
