#include <algorithm>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/format.h"
#include "checkpoint/catalog/readers.h"
#include "checkpoint/catalog/tensors.h"
#include "checkpoint/hdf5/hdf5.h"
#include "checkpoint/keras_h5/append.h"
#include "checkpoint/keras_zip/directory.h"
#include "checkpoint/keras_zip/model_metadata.h"
#include "io/inflate_file.h"
#include "io/sub_file.h"

namespace shardwise {
namespace {

using zip::Member;

constexpr std::string_view kWeights = "model.weights.h5";
constexpr std::string_view kNumpyWeights = "model.weights.npz";
constexpr std::string_view kShardedWeights = "model.weights.json";
constexpr std::string_view kMetadata = "metadata.json";
// Keras's own limits for members of a .keras archive.
constexpr std::uint64_t kBombBytes = 4_GiB;
constexpr std::uint64_t kBombExpansion = 100;
constexpr std::uint64_t kMaxMetadataBytes = 64_KiB;
// The headers of a deflated file are found by inflating it, and again for every step back. Real files take a few
// passes.
constexpr std::uint64_t kPassesOverMember = 16;
constexpr std::uint64_t kLeastWork = 512_MiB;

const Member* find(const std::vector<Member>& members, std::string_view name) {
  const auto found = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.name == name; });
  return found == members.end() ? nullptr : &*found;
}

Status no_weights(const std::vector<Member>& members) {
  for (const std::string_view name : {kNumpyWeights, kShardedWeights}) {
    if (find(members, name) == nullptr) continue;
    return unimplemented("the weights are in the member '{}'; only '{}' is read", name, kWeights);
  }
  constexpr std::size_t kMost = 10;
  std::string names;
  for (std::size_t i = 0; i < std::min(kMost, members.size()); ++i) {
    names += format("{}'{}'", i == 0 ? "" : ", ", printable(members[i].name));
  }
  return data_loss("the archive has no member '{}' (not a Keras model?); its {} members: {}{}", kWeights,
                   members.size(), names, members.size() > kMost ? ", ..." : "");
}

Status check_readable(const Member& member) {
  if (member.is_encrypted()) return unimplemented("it is encrypted");
  if (member.method != zip::kStored && member.method != zip::kDeflated) {
    return unimplemented("it is compressed with {}; only stored and deflated members are read",
                         zip::method_name(member.method));
  }
  if (member.size > kBombBytes && (member.size - 1) / kBombExpansion >= member.compressed_size) {
    return resource_exhausted("it says that its {} stored bytes inflate to {} bytes; that is taken for a bomb",
                              member.compressed_size, member.size);
  }
  return {};
}

Result<std::shared_ptr<const File>> open_member(const std::shared_ptr<const File>& archive, const Member& member) {
  const std::string path = format("member '{}'", member.name);
  if (const Status status = check_readable(member); !status.ok()) return status.with_context(path);
  if (member.method == zip::kStored) return open_sub_file(archive, member.data, path);
  const std::uint64_t max_work = checked_mul(member.size, kPassesOverMember).value_or(0);
  return open_inflate_file(archive, member.data, member.size,
                           {.path = path, .max_work = checked_add(max_work, kLeastWork).value_or(max_work)});
}

void add_model_metadata(const std::shared_ptr<const File>& archive, const std::vector<Member>& members,
                        Catalog& catalog) {
  const Member* member = find(members, kMetadata);
  if (member == nullptr || member->size > kMaxMetadataBytes) return;
  const auto read = [&]() -> Status {
    SHARDWISE_ASSIGN_OR_RETURN(const auto file, open_member(archive, *member));
    return keras::read_model_metadata(*file, catalog.metadata);
  };
  if (const Status status = read(); !status.ok()) {
    catalog.warnings.push_back(format("{} is left out: {}", kMetadata, status.message()));
  }
}

Result<Catalog> read(const std::string& path, const std::shared_ptr<const File>& archive, const OpenOptions& options) {
  SHARDWISE_ASSIGN_OR_RETURN(const std::vector<Member> members, zip::read_directory(*archive, options));
  const Member* weights = find(members, kWeights);
  if (weights == nullptr) return no_weights(members);
  SHARDWISE_ASSIGN_OR_RETURN(const auto file, open_member(archive, *weights));
  auto contents = hdf5::read(*file, options);
  if (!contents.ok()) return contents.status();

  Catalog catalog{.format = "keras", .path = path};
  CatalogFile stream = describe(*archive);
  keras::Location location;
  if (weights->method == zip::kStored) {
    location.offset = weights->data.begin;
  } else {
    stream.member = weights->data;
    stream.size = weights->size;
  }
  catalog.files.push_back(std::move(stream));
  add_model_metadata(archive, members, catalog);
  keras::append_metadata(contents->groups, catalog);
  SHARDWISE_RETURN_IF_ERROR(
      keras::append_datasets(std::move(contents->datasets), contents->encodings, location, catalog));
  SHARDWISE_RETURN_IF_ERROR(check_names(catalog.tensors));
  sort_by_first_byte(catalog.tensors);
  return catalog;
}

}  // namespace

Result<Catalog> read_keras_zip(const std::string& path, std::shared_ptr<const File> archive,
                               const OpenOptions& options) {
  auto catalog = read(path, archive, options);
  if (!catalog.ok()) return catalog.status().with_context(path);
  return catalog;
}

}  // namespace shardwise
