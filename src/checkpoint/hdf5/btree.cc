#include "checkpoint/hdf5/btree.h"

namespace shardwise::hdf5 {

Result<BTreeNode> read_btree_node(Metadata& metadata, std::uint64_t offset, BTreeType type, std::uint64_t key_size,
                                  std::uint32_t max_children) {
  constexpr std::string_view kWhat = "B-tree node";
  const std::uint64_t head_size = 8 + 2 * std::uint64_t{metadata.format().offset_size};
  SHARDWISE_ASSIGN_OR_RETURN(const Record head, metadata.load(offset, head_size, kWhat));
  Cursor cursor = head.cursor(metadata.format(), kWhat);
  if (!cursor.signature("TREE")) return cursor.error("its signature is missing");
  const std::uint8_t node_type = cursor.u8();
  BTreeNode node;
  node.level = cursor.u8();
  node.children = cursor.u16();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (node_type != static_cast<std::uint8_t>(type)) {
    return cursor.error(format("type {} where {} is expected", node_type, static_cast<int>(type)));
  }
  if (node.level > kMaxBTreeLevel) return cursor.error(format("level {}, over {}", node.level, kMaxBTreeLevel));
  if (node.children > max_children) {
    return cursor.error(format("{} children, where the superblock allows {}", node.children, max_children));
  }
  const std::uint64_t body_size = key_size + node.children * (key_size + metadata.format().offset_size);
  SHARDWISE_ASSIGN_OR_RETURN(node.body, metadata.load(offset + head_size, body_size, kWhat));
  return node;
}

}  // namespace shardwise::hdf5
