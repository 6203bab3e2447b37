// Version 1 B-trees: the index of old-style groups and of chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "base/format.h"
#include "checkpoint/hdf5/metadata.h"
#include "shardwise/status.h"

namespace shardwise::hdf5 {

enum class BTreeType : std::uint8_t { kGroup = 0, kChunks = 1 };

// One node: level 0 is a leaf; key i <= everything under child i <= key i + 1.
struct BTreeNode {
  std::uint8_t level = 0;
  std::uint16_t children = 0;
  Record body;  // key 0, child 0, key 1, ... key n
};

// Keys of `key_size` bytes, at most `max_children` children. Errors: DATA_LOSS.
Result<BTreeNode> read_btree_node(Metadata& metadata, std::uint64_t offset, BTreeType type, std::uint64_t key_size,
                                  std::uint32_t max_children);

// A tree deeper than this would have more leaves than any file has bytes; only cycles and forgeries do.
inline constexpr std::uint8_t kMaxBTreeLevel = 32;

// Walks a tree in key order, every node once. Thread-compatible; borrows metadata and policy. Policy gives:
//   using Key;  static constexpr BTreeType kType;  std::uint64_t key_size() const;  std::uint32_t max_children() const;
//   Result<Key> read_key(Cursor&);
//   bool less(const Key&, const Key&) const;
//   Status leaf(const Key& own, const Key& low, const Key& high, std::uint64_t child);
// `own` is the child's left key. `low` and `high` bound what a search can find in this child: the tightest of the keys
// on the way down, so content outside them is as lost to other readers as if it were not there.
template <typename Policy>
class BTreeWalker {
 public:
  BTreeWalker(Metadata& metadata, Policy& policy) : metadata_(metadata), policy_(policy) {}

  Status walk(std::uint64_t root) { return visit(root, nullptr, nullptr, nullptr); }

 private:
  using Key = typename Policy::Key;

  Status visit(std::uint64_t offset, const std::uint8_t* parent_level, const Key* low, const Key* high) {
    if (!seen_.insert(offset).second) return data_loss("B-tree node at byte {}: reached twice (a cycle)", offset);
    SHARDWISE_ASSIGN_OR_RETURN(const BTreeNode node, read_btree_node(metadata_, offset, Policy::kType,
                                                                     policy_.key_size(), policy_.max_children()));
    if (parent_level != nullptr && node.level + 1 != *parent_level) {
      return data_loss("B-tree node at byte {}: level {} under level {} (corrupt file?)", offset, node.level,
                       *parent_level);
    }
    Cursor cursor = node.body.cursor(metadata_.format(), "B-tree node");
    SHARDWISE_ASSIGN_OR_RETURN(Key left, policy_.read_key(cursor));
    for (std::uint16_t i = 0; i < node.children; ++i) {
      const std::uint64_t child = cursor.address();
      SHARDWISE_ASSIGN_OR_RETURN(Key right, policy_.read_key(cursor));
      SHARDWISE_RETURN_IF_ERROR(cursor.status());
      if (policy_.less(right, left)) return cursor.error(format("keys {} and {} are out of order", i, i + 1));
      if (child == kUndefined) return cursor.error(format("child {} has no address", i));
      const Key* child_low = low != nullptr && policy_.less(left, *low) ? low : &left;
      const Key* child_high = high != nullptr && policy_.less(*high, right) ? high : &right;
      SHARDWISE_RETURN_IF_ERROR(node.level == 0 ? policy_.leaf(left, *child_low, *child_high, child)
                                                : visit(child, &node.level, child_low, child_high));
      left = std::move(right);
    }
    return {};
  }

  Metadata& metadata_;
  Policy& policy_;
  std::set<std::uint64_t> seen_;
};

}  // namespace shardwise::hdf5
