// Links in a fractal heap with a version 2 B-tree over their names, well-formed and not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "checkpoint/hdf5/checksum.h"
#include "checkpoint/hdf5/file_builder_testing.h"
#include "checkpoint/hdf5/hdf5.h"
#include "io/memory_file.h"
#include "testing/matchers.h"

namespace shardwise::hdf5 {
namespace {

using testing::FileBuilder;
using testing::header_v2;
using testing::TestMessage;
using testing::Writer;

constexpr std::uint64_t kBlockSize = 512;
constexpr std::uint64_t kBlockHead = 21;  // signature, version, heap, offset, checksum
constexpr std::uint64_t kHeapHeaderSize = 146;

std::uint64_t next_eighth(std::uint64_t offset) { return (offset + 7) / 8 * 8; }

// All that a dense group is made of. A test changes a field and reads.
struct DenseGroup {
  FileBuilder builder;
  std::vector<std::string> names = {"a", "b"};
  // Heap.
  std::uint16_t id_size = 7;
  std::uint16_t filters_size = 0;
  std::uint16_t width = 4;
  std::uint64_t first_block = kBlockSize;
  std::uint64_t max_direct = 65536;
  std::uint16_t max_bits = 32;
  std::uint16_t root_rows = 0;
  std::uint64_t block_begin = 0;
  std::uint8_t id_type = 0x00;
  std::uint32_t id_offset = 0;  // added to the right one
  std::uint32_t id_length = 0;  // added to the right one
  // Index.
  std::uint8_t type = 5;
  std::uint32_t node_size = 512;
  std::uint16_t record_size = 11;
  std::uint16_t depth = 0;
  std::uint64_t missing_records = 0;
  std::uint32_t hash_change = 0;
  bool has_index = true;
  bool is_cycle = false;
  std::function<void(std::string& file)> spoil = [](std::string&) {};

  Result<Contents> read() {
    const std::uint64_t dataset = builder.add_vector({1}, "v");
    const std::uint64_t heap = builder.next();
    add_heap_header(heap);
    Writer records;
    add_blocks(heap, dataset, records);
    const std::uint64_t index = has_index ? add_index(records) : kUndefined;
    const TestMessage info{0x02, Writer().u8(0).u8(0).u64(heap).u64(index)};
    std::string file = builder.finish(builder.add(header_v2({info})));
    spoil(file);
    return hdf5::read(MemoryFile("m.h5", file));
  }

 private:
  // The root follows the header.
  void add_heap_header(std::uint64_t heap) {
    Writer w;
    w.text("FRHP").u8(0).u16(id_size).u16(filters_size).u8(2).u32(4096);
    w.u64(0).u64(kUndefined).u64(0).u64(kUndefined).zeros(64);
    w.u16(width).u64(first_block).u64(max_direct).u16(max_bits).u16(1).u64(next_eighth(heap + kHeapHeaderSize));
    builder.add(w.u16(root_rows).checksum(), "heap");
  }

  // The links, in the root block or in the first block of the root's table.
  void add_blocks(std::uint64_t heap, std::uint64_t dataset, Writer& records) {
    if (root_rows > 0) {
      Writer table;
      table.text("FHIB").u8(0).u64(heap).u32(0).u64(next_eighth(builder.next() + 21 + 4u * root_rows * 8));
      for (int i = 1; i < 4 * root_rows; ++i) table.u64(kUndefined);
      builder.add(table.checksum(), "table");
    }
    Writer objects;
    for (const std::string& name : names) {
      const Writer link = Writer().u8(1).u8(0).u8(name.size()).text(name).u64(dataset);
      records.u32(lookup3(std::as_bytes(std::span(name))) + hash_change).u8(id_type);
      records.u32(kBlockHead + objects.size() + id_offset).u16(link.size() + id_length);
      objects.text(link);
    }
    const auto block = [&](std::uint32_t checksum) {
      Writer w;
      w.text("FHDB").u8(0).u64(heap).u32(block_begin).u32(checksum).text(objects);
      return w.zeros(kBlockSize - w.size());
    };
    builder.add(block(lookup3(std::as_bytes(std::span(block(0).bytes())))), "block");
  }

  std::uint64_t add_index(const Writer& records) {
    const std::uint64_t root = builder.next();
    if (is_cycle) {
      depth = 1;
      builder.add(Writer().text("BTIN").u8(0).u8(type).u64(root).u8(0).checksum());
    } else {
      builder.add(Writer().text("BTLF").u8(0).u8(type).text(records).checksum(), "leaf");
    }
    Writer w;
    w.text("BTHD").u8(0).u8(type).u32(node_size).u16(record_size).u16(depth).u8(100).u8(40).u64(root);
    w.u16(is_cycle ? 0 : names.size()).u64(names.size() + missing_records);
    return builder.add(w.checksum(), "index");
  }
};

TEST(Dense, LinksInTheRootBlock) {
  DenseGroup group;
  const auto contents = group.read();
  ASSERT_THAT(contents, IsOk());
  ASSERT_EQ(contents->datasets.size(), 2u);
  EXPECT_EQ(contents->datasets[0].name, "a");
  EXPECT_EQ(contents->datasets[1].name, "b");
}

TEST(Dense, LinksBelowATable) {
  DenseGroup group;
  group.root_rows = 1;
  EXPECT_THAT(group.read(), IsOk());
}

struct Broken {
  const char* what;
  void (*change)(DenseGroup&);
  Code code;
  const char* message;
};

void expect_broken(std::span<const Broken> cases) {
  for (const Broken& c : cases) {
    DenseGroup group;
    c.change(group);
    EXPECT_THAT(group.read(), FailsWith(c.code, c.message)) << c.what;
  }
}

TEST(Dense, BrokenHeaps) {
  constexpr Code kBad = Code::kDataLoss;
  const Broken kCases[] = {
      {"filters", [](DenseGroup& g) { g.filters_size = 8; }, Code::kUnimplemented, "filtered blocks"},
      {"short ids", [](DenseGroup& g) { g.id_size = 6; }, kBad, "ids of 6 bytes"},
      {"long ids", [](DenseGroup& g) { g.id_size = 8; }, kBad, "records of 11 bytes for ids of 8"},
      {"no columns", [](DenseGroup& g) { g.width = 0; }, kBad, "rows of 0 blocks"},
      {"odd columns", [](DenseGroup& g) { g.width = 3; }, kBad, "rows of 3 blocks"},
      {"many columns", [](DenseGroup& g) { g.width = 2048; }, kBad, "rows of 2048 blocks"},
      {"odd blocks", [](DenseGroup& g) { g.first_block = 513; }, kBad, "blocks of 513"},
      {"no blocks", [](DenseGroup& g) { g.first_block = 0; }, kBad, "blocks of 0"},
      {"huge blocks", [](DenseGroup& g) { g.max_direct = std::uint64_t{1} << 63; }, kBad, "in 32 bits"},
      {"small blocks", [](DenseGroup& g) { g.max_direct = 256; }, kBad, "blocks of 512 to 256 bytes"},
      {"wide rows", [](DenseGroup& g) { g.width = 512; }, kBad, "rows of 512 blocks"},
      {"64 bits", [](DenseGroup& g) { g.max_bits = 64; }, kBad, "in 64 bits"},
      {"many rows", [](DenseGroup& g) { g.root_rows = 23; }, kBad, "a root of 23 rows, over 22"},
      {"block of another place", [](DenseGroup& g) { g.block_begin = 512; }, kBad, "it belongs elsewhere"},
      {"id of another version", [](DenseGroup& g) { g.id_type = 0x40; }, kBad, "an id of version 1"},
      {"huge object", [](DenseGroup& g) { g.id_type = 0x10; }, Code::kUnimplemented, "a huge object"},
      {"tiny object", [](DenseGroup& g) { g.id_type = 0x20; }, kBad, "link message"},
      {"unknown object", [](DenseGroup& g) { g.id_type = 0x30; }, kBad, "an id of unknown type"},
      {"object outside", [](DenseGroup& g) { g.id_offset = 600; }, kBad, "leaves its block"},
      {"object too long", [](DenseGroup& g) { g.id_length = 500; }, kBad, "leaves its block"},
      {"no such block", [](DenseGroup& g) { g.root_rows = 1, g.id_offset = 600; }, kBad, "no block has its byte"},
      {"no such row", [](DenseGroup& g) { g.root_rows = 1, g.id_offset = 5000; }, kBad, "no block has its byte"},
  };
  expect_broken(kCases);
}

TEST(Dense, BrokenIndexes) {
  constexpr Code kBad = Code::kDataLoss;
  const Broken kCases[] = {
      {"of another type", [](DenseGroup& g) { g.type = 8; }, kBad, "type 8 where 5 is expected"},
      {"deep", [](DenseGroup& g) { g.depth = 17; }, kBad, "depth 17"},
      {"leaf as inner node", [](DenseGroup& g) { g.depth = 1; }, kBad, "signature is missing"},
      {"small nodes", [](DenseGroup& g) { g.node_size = 20; }, kBad, "nodes of 20 bytes for records of 11"},
      {"full node", [](DenseGroup& g) { g.node_size = 31; }, kBad, "2 records, 1 fit"},
      {"records of 0 bytes", [](DenseGroup& g) { g.record_size = 0; }, kBad, "for records of 0"},
      {"missing records", [](DenseGroup& g) { g.missing_records = 1; }, kBad, "2 records, its header says 3"},
      {"wrong hash", [](DenseGroup& g) { g.hash_change = 1; }, kBad, "not that of the name 'a'"},
      {"cycle", [](DenseGroup& g) { g.is_cycle = true; }, kBad, "reached twice (a cycle)"},
      {"none", [](DenseGroup& g) { g.has_index = false; }, kBad, "without an index"},
      {"the same name",
       [](DenseGroup& g) {
         g.names = {"a", "a"};
       },
       kBad, "two links with the name 'a'"},
  };
  expect_broken(kCases);
}

TEST(Dense, EveryChecksumCounts) {
  for (const std::string place : {"heap", "table", "block", "leaf", "index"}) {
    DenseGroup group;
    group.root_rows = 1;
    group.spoil = [&](std::string& file) { file[group.builder.place(place) + 12] ^= 1; };
    EXPECT_THAT(group.read(), FailsWith(Code::kDataLoss)) << place;
    // A byte that nothing else looks at: statistics, an unused child, unused space, a count that is checked later.
    const std::map<std::string, std::uint64_t> kIdle = {{"heap", 60}, {"table", 40}, {"block", 500}, {"index", 14}};
    if (!kIdle.contains(place)) continue;
    DenseGroup other;
    other.root_rows = 1;
    other.spoil = [&](std::string& file) { file[other.builder.place(place) + kIdle.at(place)] ^= 1; };
    EXPECT_THAT(other.read(), FailsWith(Code::kDataLoss, "checksum")) << place;
  }
}

}  // namespace
}  // namespace shardwise::hdf5
