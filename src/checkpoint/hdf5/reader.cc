// hdf5::read: walks the groups from the root and reads every dataset.
#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "base/format.h"
#include "checkpoint/hdf5/attribute.h"
#include "checkpoint/hdf5/dataset.h"
#include "checkpoint/hdf5/group.h"
#include "checkpoint/hdf5/hdf5.h"
#include "checkpoint/hdf5/heap.h"
#include "checkpoint/hdf5/metadata.h"
#include "checkpoint/hdf5/object_header.h"
#include "checkpoint/hdf5/superblock.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::size_t kMaxDepth = 256;

// Walks the tree depth first, names in order, without recursion. Thread-compatible; lives for one read().
class TreeReader {
 public:
  TreeReader(const File& file, const OpenOptions& options)
      : options_(options), metadata_(file), heaps_(metadata_), datasets_(metadata_, heaps_, options) {}

  Result<Contents> read() {
    SHARDWISE_ASSIGN_OR_RETURN(const Superblock superblock, read_superblock(metadata_));
    SHARDWISE_RETURN_IF_ERROR(read_extension(superblock));
    SHARDWISE_RETURN_IF_ERROR(visit("", superblock.root_header));
    while (!open_groups_.empty()) {
      OpenGroup& group = open_groups_.back();
      if (group.next == group.links.size()) {
        open_groups_.pop_back();
        continue;
      }
      const Link& link = group.links[group.next++];
      const std::string path = group.path.empty() ? link.name : group.path + "/" + link.name;
      SHARDWISE_RETURN_IF_ERROR(visit(path, link.header));
    }
    contents_.encodings = datasets_.take_encodings();
    return std::move(contents_);
  }

 private:
  struct OpenGroup {
    std::uint64_t header = 0;
    std::string path;
    std::vector<Link> links;
    std::size_t next = 0;
  };

  // Settings that versions 2 and 3 of the superblock keep in an object header.
  Status read_extension(const Superblock& superblock) {
    if (superblock.extension == kUndefined) return {};
    const auto header = read_object_header(metadata_, superblock.extension);
    if (!header.ok()) return header.status().with_context("superblock extension");
    if (header->has(MessageType::kDriver))
      return unimplemented("superblock extension: data in several files (driver information)");
    SHARDWISE_ASSIGN_OR_RETURN(const Message* ranks, header->find(MessageType::kBTreeK));
    if (ranks == nullptr) return {};
    Cursor cursor = ranks->cursor(metadata_.format());
    const std::uint8_t version = cursor.u8();
    FileFormat& format = metadata_.format();
    format.chunk_k = cursor.u16();
    format.group_internal_k = cursor.u16();
    format.group_leaf_k = cursor.u16();
    SHARDWISE_RETURN_IF_ERROR(cursor.status());
    if (version != 0) return cursor.error(shardwise::format("version {}", version));
    return {};
  }

  Status visit(const std::string& path, std::uint64_t offset) {
    const Status status = visit_object(path, offset);
    return status.ok() ? status : status.with_context(format("object '/{}'", printable(path)));
  }

  Status visit_object(const std::string& path, std::uint64_t offset) {
    SHARDWISE_RETURN_IF_ERROR(metadata_.charge(sizeof(TensorInfo) + 2 * path.size()));
    SHARDWISE_ASSIGN_OR_RETURN(const ObjectHeader header, read_object_header(metadata_, offset));
    if (is_group(header) && (is_dataset(header) || header.has(MessageType::kDatatype))) {
      return data_loss("object header at byte {}: messages of a group and of a dataset (corrupt file?)", offset);
    }
    if (is_group(header)) return open_group(path, header);
    if (is_dataset(header)) return add_dataset(path, header);
    if (header.has(MessageType::kDatatype)) return unimplemented("a committed (named) datatype");
    return data_loss("object header at byte {}: neither a group nor a dataset (corrupt file?)", offset);
  }

  Status open_group(const std::string& path, const ObjectHeader& header) {
    const auto is_it = [&](const OpenGroup& group) { return group.header == header.offset; };
    if (std::any_of(open_groups_.begin(), open_groups_.end(), is_it)) {
      return data_loss("a hard link to a group that it lies in (a cycle)");
    }
    if (open_groups_.size() >= kMaxDepth) return resource_exhausted("groups nested more than {} deep", kMaxDepth);
    SHARDWISE_ASSIGN_OR_RETURN(Attributes attributes, read_attributes(metadata_, heaps_, header));
    SHARDWISE_ASSIGN_OR_RETURN(std::vector<Link> links, read_links(metadata_, header));
    contents_.groups.push_back({path, std::move(attributes.text)});
    open_groups_.push_back({header.offset, path, std::move(links)});
    return {};
  }

  Status add_dataset(const std::string& path, const ObjectHeader& header) {
    if (contents_.datasets.size() >= options_.max_tensors) {
      return resource_exhausted("more than {} datasets", options_.max_tensors);
    }
    SHARDWISE_ASSIGN_OR_RETURN(DatasetReader::Dataset dataset, datasets_.read(path, header));
    contents_.datasets.push_back(std::move(dataset.tensor));
    contents_.dataset_attributes.push_back(std::move(dataset.attributes));
    return {};
  }

  const OpenOptions options_;
  Metadata metadata_;
  GlobalHeaps heaps_;
  DatasetReader datasets_;
  std::vector<OpenGroup> open_groups_;
  Contents contents_;
};

}  // namespace

bool has_signature(const File& file) {
  const auto at = find_signature(file);
  return at.ok() && at->has_value();
}

Result<Contents> read(const File& file, const OpenOptions& options) {
  const auto read_tree = [&]() -> Result<Contents> {
    try {
      return TreeReader(file, options).read();
    } catch (const std::bad_alloc&) {
      return resource_exhausted(std::string("no memory left for the metadata"));
    }
  };
  auto contents = read_tree();
  if (!contents.ok()) return contents.status().with_context(printable(file.path()));
  return contents;
}

}  // namespace shardwise::hdf5
