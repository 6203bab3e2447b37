#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "base/format.h"
#include "checkpoint/catalog/readers.h"
#include "checkpoint/hdf5/hdf5.h"
#include "checkpoint/keras_json/shards.h"
#include "checkpoint/keras_json/weight_map.h"

namespace shardwise {
namespace {

using keras::ShardCollector;
using keras::WeightMap;

Result<WeightMap> read_weight_map(const File& index, const OpenOptions& options) {
  if (index.size() > options.max_header_bytes) {
    return resource_exhausted("the index of {} bytes is above OpenOptions::max_header_bytes, {}", index.size(),
                              options.max_header_bytes);
  }
  std::string json(static_cast<std::size_t>(index.size()), '\0');
  SHARDWISE_RETURN_IF_ERROR(index.read(0, std::as_writable_bytes(std::span(json.data(), json.size()))));
  return keras::parse_weight_map(json, options);
}

std::string path_of(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

// All shards are there and inside the folder; the only thing done before the first is parsed.
Status check_shards(const std::string& folder, const WeightMap& map, const FileOpener& open) {
  std::uint64_t missing = 0;
  std::string first;
  for (const std::string& name : map.files) {
    SHARDWISE_RETURN_IF_ERROR(check_stays_inside(folder, name));
    const auto file = open(path_of(folder, name));
    if (file.ok()) continue;
    if (file.status().code() != Code::kNotFound) return file.status();
    if (missing++ == 0) first = path_of(folder, name);
  }
  if (missing == 0) return {};
  return not_found("{} of the {} shards that weight_map names are missing, first {} (incomplete download?)", missing,
                   map.files.size(), printable(first));
}

std::uint64_t chunks_of(const hdf5::Contents& contents) {
  std::uint64_t chunks = 0;
  for (const TensorInfo& tensor : contents.datasets) {
    if (tensor.extents.size() > 1) chunks += tensor.extents.size();
  }
  return chunks;
}

Result<Catalog> read(const std::string& path, const File& index, const FileOpener& open, const OpenOptions& options) {
  SHARDWISE_ASSIGN_OR_RETURN(const WeightMap map, read_weight_map(index, options));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  SHARDWISE_RETURN_IF_ERROR(check_shards(folder, map, open));
  ShardCollector collector(path, map);
  OpenOptions left = options;
  for (std::uint32_t i = 0; i < map.files.size(); ++i) {
    SHARDWISE_ASSIGN_OR_RETURN(const std::shared_ptr<const File> file, open(path_of(folder, map.files[i])));
    auto contents = hdf5::read(*file, left);
    if (!contents.ok() && contents.status().code() == Code::kResourceExhausted && i > 0) {
      return resource_exhausted(
          "{} after those of {} shards before it; together they may hold {} tensors and {} chunks "
          "(OpenOptions)",
          contents.status().message(), i, options.max_tensors, options.max_chunks);
    }
    if (!contents.ok()) return contents.status();
    left.max_tensors -= std::min<std::uint64_t>(left.max_tensors, contents->datasets.size());
    left.max_chunks -= std::min(left.max_chunks, chunks_of(*contents));
    SHARDWISE_RETURN_IF_ERROR(collector.add(i, describe(*file), std::move(*contents)));
  }
  return std::move(collector).finish();
}

}  // namespace

Result<Catalog> read_keras_json(const std::string& path, const File& index, const FileOpener& open,
                                const OpenOptions& options) {
  auto catalog = read(path, index, open, options);
  if (!catalog.ok()) return catalog.status().with_context(path);
  return catalog;
}

}  // namespace shardwise
