#include <filesystem>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/format.h"
#include "checkpoint/catalog/readers.h"
#include "checkpoint/catalog/tensors.h"
#include "checkpoint/safetensors/index.h"

namespace shardwise {
namespace {

using safetensors::Index;

// Where weight_map puts a tensor.
struct Mapped {
  std::string_view file;
  bool found = false;
};
using Map = std::unordered_map<std::string_view, Mapped>;

Result<Index> read_index(const File& file, const OpenOptions& options) {
  if (file.size() > options.max_header_bytes) {
    return resource_exhausted("the index of {} bytes is above OpenOptions::max_header_bytes, {}", file.size(),
                              options.max_header_bytes);
  }
  std::string json(file.size(), '\0');
  SHARDWISE_RETURN_IF_ERROR(file.read(0, std::as_writable_bytes(std::span(json.data(), json.size()))));
  return safetensors::parse_index(json, options.max_tensors);
}

Result<Map> make_map(const Index& index) {
  Map map;
  map.reserve(index.weight_map.size());
  for (const Index::Entry& entry : index.weight_map) {
    if (!map.try_emplace(entry.tensor, Mapped{entry.file}).second) {
      return data_loss("weight_map names tensor '{}' twice", printable(entry.tensor));
    }
  }
  return map;
}

// The reading of one index, file by file. Thread-compatible; borrows everything it is made with.
class Assembly {
 public:
  Assembly(const std::string& path, const FileOpener& open, const OpenOptions& options, const Index& index, Map& map)
      : folder_(std::filesystem::path(path).parent_path().string()),
        open_(open),
        options_(options),
        index_(index),
        map_(map) {
    catalog_.format = "safetensors-index";
    catalog_.path = path;
    catalog_.metadata = index.metadata;
    catalog_.warnings = index.warnings;
  }

  Result<Catalog> run() {
    for (const auto& [name, count] : index_.files) {
      SHARDWISE_RETURN_IF_ERROR(check_member_name(name, "weight_map"));
      SHARDWISE_RETURN_IF_ERROR(check_stays_inside(folder_, name));
    }
    for (const auto& [name, count] : index_.files) SHARDWISE_RETURN_IF_ERROR(add_file(name));
    SHARDWISE_RETURN_IF_ERROR(check_all_found());
    warn();
    return std::move(catalog_);
  }

 private:
  std::string path_of(const std::string& name) const { return folder_.empty() ? name : folder_ + "/" + name; }

  Status add_file(const std::string& name) {
    const auto file = open_(path_of(name));
    if (!file.ok()) return file.status().code() == Code::kNotFound ? missing_files() : file.status();
    auto part = read_safetensors(path_of(name), **file, options_);
    if (!part.ok()) return part.status();
    seen_ += part->tensors.size();
    if (seen_ > options_.max_tensors) {
      return resource_exhausted("its files hold more than {} tensors (OpenOptions::max_tensors)", options_.max_tensors);
    }
    catalog_.files.push_back(std::move(part->files[0]));
    catalog_.metadata.merge(part->metadata);
    for (TensorInfo& tensor : part->tensors) SHARDWISE_RETURN_IF_ERROR(add_tensor(name, std::move(tensor)));
    return {};
  }

  Status add_tensor(const std::string& file, TensorInfo tensor) {
    const auto entry = map_.find(tensor.name);
    if (entry == map_.end()) {
      if (left_out_++ == 0) first_left_out_ = format("'{}' in {}", printable(tensor.name), printable(file));
      return {};
    }
    Mapped& mapped = entry->second;
    if (mapped.file != file) {
      return data_loss("tensor '{}' is stored in {} although weight_map puts it in {}; which is meant cannot be known",
                       printable(tensor.name), printable(file), printable(mapped.file));
    }
    mapped.found = true;
    for (Extent& extent : tensor.extents) extent.file = static_cast<std::uint32_t>(catalog_.files.size() - 1);
    catalog_.tensors.push_back(std::move(tensor));
    return {};
  }

  Status missing_files() const {
    std::uint64_t count = 0;
    std::string first;
    for (const auto& [name, tensors] : index_.files) {
      const auto file = open_(path_of(name));
      if (file.ok() || file.status().code() != Code::kNotFound) continue;
      if (count++ == 0) first = name;
    }
    return not_found("{} of the {} files that weight_map names are missing, first {} (incomplete download?)", count,
                     index_.files.size(), printable(path_of(first)));
  }

  Status check_all_found() const {
    for (const Index::Entry& entry : index_.weight_map) {
      if (map_.at(entry.tensor).found) continue;
      return data_loss("weight_map puts tensor '{}' in {}, which does not hold it", printable(entry.tensor),
                       printable(entry.file));
    }
    return {};
  }

  void warn() {
    if (left_out_ > 0) {
      catalog_.warnings.push_back(
          format("{} stored tensors are not in weight_map and left out, first {}", left_out_, first_left_out_));
    }
    const std::uint64_t total = catalog_.total_bytes();
    if (index_.total_size && *index_.total_size != static_cast<double>(total)) {
      catalog_.warnings.push_back(
          format("metadata.total_size is {} but the tensors take {} bytes", *index_.total_size, total));
    }
  }

  std::string folder_;
  const FileOpener& open_;
  const OpenOptions& options_;
  const Index& index_;
  Map& map_;
  Catalog catalog_;
  std::uint64_t seen_ = 0;
  std::uint64_t left_out_ = 0;
  std::string first_left_out_;
};

Result<Catalog> read(const std::string& path, const File& file, const FileOpener& open, const OpenOptions& options) {
  SHARDWISE_ASSIGN_OR_RETURN(const Index index, read_index(file, options));
  SHARDWISE_ASSIGN_OR_RETURN(Map map, make_map(index));
  return Assembly(path, open, options, index, map).run();
}

}  // namespace

Result<Catalog> read_safetensors_index(const std::string& path, const File& index, const FileOpener& open,
                                       const OpenOptions& options) {
  auto catalog = read(path, index, open, options);
  if (!catalog.ok()) return in_file(catalog.status(), path);
  return catalog;
}

}  // namespace shardwise
