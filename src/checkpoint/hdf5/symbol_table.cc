#include "checkpoint/hdf5/symbol_table.h"

#include <string>
#include <utility>

#include "base/format.h"
#include "checkpoint/hdf5/btree.h"
#include "checkpoint/hdf5/heap.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::string_view kNodeWhat = "symbol table node";
constexpr std::uint32_t kSymbolicLink = 2;  // cache type of an entry that is a soft link
constexpr std::uint32_t kLastCacheType = 2;

// Collects the links of one group; keys are names, as offsets into its heap.
class GroupPolicy {
 public:
  using Key = std::string;
  static constexpr BTreeType kType = BTreeType::kGroup;

  GroupPolicy(Metadata& metadata, const LocalHeap& heap) : metadata_(metadata), heap_(heap) {}

  std::uint64_t key_size() const { return metadata_.format().length_size; }
  std::uint32_t max_children() const { return 2 * metadata_.format().group_internal_k; }
  bool less(const Key& a, const Key& b) const { return a < b; }
  Result<Key> read_key(Cursor& cursor) {
    const std::uint64_t offset = cursor.length();
    SHARDWISE_RETURN_IF_ERROR(cursor.status());
    return heap_.name(offset);
  }

  Status leaf(const Key&, const Key& low, const Key& high, std::uint64_t node) {
    if (!seen_.insert(node).second) return data_loss("{} at byte {}: reached twice", kNodeWhat, node);
    SHARDWISE_ASSIGN_OR_RETURN(const Record head, metadata_.load(node, 8, kNodeWhat));
    Cursor cursor = head.cursor(metadata_.format(), kNodeWhat);
    if (!cursor.signature("SNOD")) return cursor.error("its signature is missing");
    const std::uint8_t version = cursor.u8();
    cursor.skip(1);
    const std::uint16_t count = cursor.u16();
    SHARDWISE_RETURN_IF_ERROR(cursor.status());
    const std::uint32_t room = 2 * metadata_.format().group_leaf_k;
    if (version != 1) return cursor.error(format("version {}", version));
    if (count > room) return cursor.error(format("{} entries, it has room for {}", count, room));
    const std::uint64_t entry_size = 24 + 2 * std::uint64_t{metadata_.format().offset_size};
    SHARDWISE_ASSIGN_OR_RETURN(const Record body, metadata_.load(node + 8, count * entry_size, kNodeWhat));
    Cursor entries = body.cursor(metadata_.format(), kNodeWhat);
    for (std::uint16_t i = 0; i < count; ++i) SHARDWISE_RETURN_IF_ERROR(read_entry(entries, low, high));
    return {};
  }

  std::vector<Link> take_links() { return std::move(links_); }

 private:
  Status read_entry(Cursor& cursor, const Key& low, const Key& high) {
    const std::uint64_t name_offset = cursor.uint(metadata_.format().offset_size);
    const std::uint64_t header = cursor.address();
    const std::uint32_t cache_type = cursor.u32();
    cursor.skip(4 + 16);  // reserved, cached addresses
    SHARDWISE_RETURN_IF_ERROR(cursor.status());
    SHARDWISE_ASSIGN_OR_RETURN(std::string name, heap_.name(name_offset));
    if (cache_type > kLastCacheType) return cursor.error(format("an entry with cache type {}", cache_type));
    if (cache_type == kSymbolicLink) return unimplemented("'{}': Not allowed: H5 file with SoftLink", printable(name));
    if (!links_.empty() && !(links_.back().name < name)) {
      return cursor.error(
          format("names '{}' and '{}' are out of order", printable(links_.back().name), printable(name)));
    }
    if (!(low < name) || high < name) {
      return cursor.error(format("name '{}' is outside the keys '{}' and '{}' of its B-tree", printable(name),
                                 printable(low), printable(high)));
    }
    SHARDWISE_RETURN_IF_ERROR(metadata_.charge(sizeof(Link) + name.size()));
    links_.push_back({std::move(name), header});
    return {};
  }

  Metadata& metadata_;
  const LocalHeap& heap_;
  std::vector<Link> links_;
  std::set<std::uint64_t> seen_;
};

}  // namespace

Result<std::vector<Link>> read_symbol_table(Metadata& metadata, const Message& message) {
  Cursor cursor = message.cursor(metadata.format());
  const std::uint64_t tree = cursor.address();
  const std::uint64_t heap_offset = cursor.address();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (tree == kUndefined || heap_offset == kUndefined) return cursor.error("no address of B-tree or heap");
  SHARDWISE_ASSIGN_OR_RETURN(const LocalHeap heap, LocalHeap::read(metadata, heap_offset));
  GroupPolicy policy(metadata, heap);
  SHARDWISE_RETURN_IF_ERROR(BTreeWalker(metadata, policy).walk(tree));
  return policy.take_links();
}

}  // namespace shardwise::hdf5
