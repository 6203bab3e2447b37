#include "checkpoint/keras_h5/append.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/format.h"

namespace shardwise::keras {
namespace {

constexpr std::size_t kMaxTextBytes = 4096;

Status move_extent(const TensorInfo& tensor, Location location, std::uint32_t first_encoding, Extent& extent) {
  if (extent.encoding != Extent::kRaw) extent.encoding += first_encoding;
  if (extent.file == Extent::kNoFile) return {};
  const auto begin = checked_add(extent.range.begin, location.offset);
  const auto end = checked_add(extent.range.end, location.offset);
  if (!begin || !end) {
    return data_loss("tensor '{}': bytes {} lie beyond any file", printable(tensor.name), to_string(extent.range));
  }
  extent.file = location.file;
  extent.range = {*begin, *end};
  return {};
}

bool is_vars(std::string_view path) { return path == "vars" || path.ends_with("/vars"); }

void keep(const hdf5::TextAttributes& attributes, const std::string& attribute, const std::string& key,
          Catalog& catalog) {
  const auto found = attributes.find(attribute);
  if (found == attributes.end() || found->second.size() != 1 || found->second[0].size() > kMaxTextBytes) return;
  catalog.metadata.emplace(key, found->second[0]);
}

}  // namespace

Status append_datasets(std::vector<TensorInfo> datasets, const std::vector<Encoding>& encodings, Location location,
                       Catalog& catalog) {
  if (encodings.size() >= Extent::kRaw - catalog.encodings.size()) {
    return resource_exhausted("{} encodings and {} more are too many", catalog.encodings.size(), encodings.size());
  }
  const auto first_encoding = static_cast<std::uint32_t>(catalog.encodings.size());
  for (TensorInfo& tensor : datasets) {
    for (Extent& extent : tensor.extents) {
      SHARDWISE_RETURN_IF_ERROR(move_extent(tensor, location, first_encoding, extent));
    }
  }
  catalog.encodings.insert(catalog.encodings.end(), encodings.begin(), encodings.end());
  catalog.tensors.insert(catalog.tensors.end(), std::make_move_iterator(datasets.begin()),
                         std::make_move_iterator(datasets.end()));
  return {};
}

void append_metadata(const std::vector<hdf5::Group>& groups, Catalog& catalog) {
  for (const hdf5::Group& group : groups) {
    if (is_vars(group.path)) keep(group.attributes, "name", group.path + "#name", catalog);
    if (!group.path.empty() && group.path != "model_weights") continue;
    keep(group.attributes, "keras_version", "keras_version", catalog);
    keep(group.attributes, "backend", "backend", catalog);
  }
}

bool has_keras_groups(const std::vector<hdf5::Group>& groups) {
  return std::any_of(groups.begin(), groups.end(), [](const hdf5::Group& group) { return is_vars(group.path); });
}

}  // namespace shardwise::keras
