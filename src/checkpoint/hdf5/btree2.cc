#include "checkpoint/hdf5/btree2.h"

#include <bit>
#include <set>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/format.h"
#include "checkpoint/hdf5/checksum.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::string_view kHeaderWhat = "version 2 B-tree";
constexpr std::string_view kNodeWhat = "version 2 B-tree node";
// Signature, version, type and checksum of a node.
constexpr std::uint64_t kNodeOverhead = 10;
constexpr std::uint16_t kMaxDepth = 16;

struct Header {
  BTree2Type type = BTree2Type::kLinkNames;
  std::uint32_t node_size = 0;
  std::uint16_t record_size = 0;
  std::uint16_t depth = 0;
  std::uint64_t root = kUndefined;
  std::uint16_t root_records = 0;
  std::uint64_t total_records = 0;
};

// A child node as its parent describes it.
struct Child {
  std::uint64_t address = kUndefined;
  std::uint64_t records = 0;
};

Result<Header> read_header(Metadata& metadata, std::uint64_t offset, BTree2Type type) {
  const FileFormat& format = metadata.format();
  const std::uint64_t size = 22 + std::uint64_t{format.offset_size} + format.length_size;
  SHARDWISE_ASSIGN_OR_RETURN(const Record record, metadata.load(offset, size, kHeaderWhat));
  Cursor cursor = record.cursor(format, kHeaderWhat);
  if (!cursor.signature("BTHD")) return cursor.error("its signature is missing");
  SHARDWISE_RETURN_IF_ERROR(check_checksum(record.bytes, offset, kHeaderWhat));
  const std::uint8_t version = cursor.u8();
  const std::uint8_t stored_type = cursor.u8();
  Header header{.type = type};
  header.node_size = cursor.u32();
  header.record_size = cursor.u16();
  header.depth = cursor.u16();
  cursor.skip(2);  // when nodes split and merge
  header.root = cursor.address();
  header.root_records = cursor.u16();
  header.total_records = cursor.length();
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version != 0) return cursor.error(shardwise::format("version {}", version));
  if (stored_type != static_cast<std::uint8_t>(type)) {
    return cursor.error(shardwise::format("type {} where {} is expected", stored_type, static_cast<int>(type)));
  }
  if (header.depth > kMaxDepth) return cursor.error(shardwise::format("depth {}, over {}", header.depth, kMaxDepth));
  if (header.record_size == 0 || header.node_size < kNodeOverhead + header.record_size) {
    return cursor.error(shardwise::format("nodes of {} bytes for records of {}", header.node_size, header.record_size));
  }
  return header;
}

// Bytes of the smallest field that holds numbers up to `limit`.
std::uint32_t bytes_for(std::uint64_t limit) {
  return static_cast<std::uint32_t>((std::bit_width(limit | 1) - 1) / 8 + 1);
}

class TreeReader {
 public:
  TreeReader(Metadata& metadata, const Header& header) : metadata_(metadata), header_(header) { measure_levels(); }

  Result<BTree2Records> read() {
    records_.record_size = header_.record_size;
    if (header_.root != kUndefined)
      SHARDWISE_RETURN_IF_ERROR(visit({header_.root, header_.root_records}, header_.depth));
    if (records_.size() != header_.total_records) {
      return data_loss("{}: {} records, its header says {} (corrupt file?)", kHeaderWhat, records_.size(),
                       header_.total_records);
    }
    return std::move(records_);
  }

 private:
  // How wide the counts in the pointers of a node are follows from how many records fit below it.
  struct Level {
    std::uint64_t max_records = 0;
    std::uint64_t max_total = 0;    // below and in a node; saturates
    std::uint32_t total_width = 0;  // bytes of that number in a pointer to such a node
  };

  void measure_levels() {
    const std::uint64_t leaf = (header_.node_size - kNodeOverhead) / header_.record_size;
    count_width_ = bytes_for(leaf);
    levels_.push_back({leaf, leaf, 0});
    for (std::uint16_t depth = 1; depth <= header_.depth; ++depth) {
      const Level& below = levels_.back();
      const std::uint64_t pointer = metadata_.format().offset_size + count_width_ + below.total_width;
      Level level;
      if (header_.node_size > kNodeOverhead + pointer) {
        level.max_records = (header_.node_size - kNodeOverhead - pointer) / (header_.record_size + pointer);
      }
      const auto product = checked_mul(level.max_records + 1, below.max_total);
      level.max_total = product ? checked_add(*product, level.max_records).value_or(kUndefined) : kUndefined;
      level.total_width = bytes_for(level.max_total);
      levels_.push_back(level);
    }
  }

  Status visit(Child node, std::uint16_t depth) {
    const Level& level = levels_[depth];
    if (!seen_.insert(node.address).second)
      return data_loss("{} at byte {}: reached twice (a cycle)", kNodeWhat, node.address);
    if (node.records > level.max_records) {
      return data_loss("{} at byte {}: {} records, {} fit (corrupt file?)", kNodeWhat, node.address, node.records,
                       level.max_records);
    }
    const std::uint64_t pointer =
        depth == 0 ? 0 : metadata_.format().offset_size + count_width_ + levels_[depth - 1u].total_width;
    const std::uint64_t records_size = node.records * header_.record_size;
    const std::uint64_t size = kNodeOverhead + records_size + (depth == 0 ? 0 : (node.records + 1) * pointer);
    SHARDWISE_ASSIGN_OR_RETURN(const Record record, metadata_.load(node.address, size, kNodeWhat));
    Cursor cursor = record.cursor(metadata_.format(), kNodeWhat);
    if (!cursor.signature(depth == 0 ? "BTLF" : "BTIN")) return cursor.error("its signature is missing");
    SHARDWISE_RETURN_IF_ERROR(check_checksum(record.bytes, node.address, kNodeWhat));
    const std::uint8_t version = cursor.u8();
    const std::uint8_t type = cursor.u8();
    if (version != 0 || type != static_cast<std::uint8_t>(header_.type)) {
      return cursor.error(format("version {} and type {}", version, type));
    }
    const auto stored = cursor.take(records_size);
    if (depth == 0) return add(stored);
    for (std::uint64_t i = 0; i <= node.records; ++i) {
      Child child;
      child.address = cursor.address();
      child.records = cursor.uint(count_width_);
      if (const std::uint32_t width = levels_[depth - 1u].total_width; width > 0) cursor.skip(width);
      SHARDWISE_RETURN_IF_ERROR(cursor.status());
      SHARDWISE_RETURN_IF_ERROR(visit(child, static_cast<std::uint16_t>(depth - 1)));
      if (i < node.records)
        SHARDWISE_RETURN_IF_ERROR(add(stored.subspan(i * header_.record_size, header_.record_size)));
    }
    return {};
  }

  Status add(std::span<const std::byte> records) {
    SHARDWISE_RETURN_IF_ERROR(metadata_.charge(records.size()));
    records_.bytes.insert(records_.bytes.end(), records.begin(), records.end());
    return {};
  }

  Metadata& metadata_;
  const Header& header_;
  std::uint32_t count_width_ = 1;
  std::vector<Level> levels_;
  std::set<std::uint64_t> seen_;
  BTree2Records records_;
};

}  // namespace

Result<BTree2Records> read_btree2(Metadata& metadata, std::uint64_t offset, BTree2Type type) {
  SHARDWISE_ASSIGN_OR_RETURN(const Header header, read_header(metadata, offset, type));
  return TreeReader(metadata, header).read();
}

}  // namespace shardwise::hdf5
