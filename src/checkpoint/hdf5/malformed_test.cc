// Malformed and hostile files: each ends in the right error, which says where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "base/format.h"
#include "checkpoint/hdf5/file_builder_testing.h"
#include "checkpoint/hdf5/hdf5.h"
#include "io/memory_file.h"
#include "testing/matchers.h"

namespace shardwise::hdf5 {
namespace {

using testing::FileBuilder;
using testing::header_v1;
using testing::header_v2;
using testing::poke;
using testing::TestMessage;
using testing::Writer;

Result<Contents> read_bytes(const std::string& file) { return read(MemoryFile("m.h5", file)); }

// A file with the root group {d: float32[3], g: {e: float32[2]}}, of which a case spoils `width` bytes.
struct Sample {
  FileBuilder builder;
  std::string file;

  Sample() {
    const std::uint64_t d = builder.add_vector({1, 2, 3}, "d");
    const std::uint64_t e = builder.add_vector({4, 5}, "e");
    const std::uint64_t g = builder.add_group({{"e", e}}, "g");
    file = builder.finish(builder.add_group({{"d", d}, {"g", g}}, "root"));
  }
};

struct Spoiled {
  std::string place;  // empty: the superblock
  std::uint64_t offset;
  std::uint64_t value;
  int width;
  Code code;
  std::string message;
};

class SpoiledTest : public ::testing::TestWithParam<Spoiled> {};

TEST_P(SpoiledTest, IsRefused) {
  const Spoiled& c = GetParam();
  Sample sample;
  ASSERT_THAT(read_bytes(sample.file), IsOk());
  poke(sample.file, (c.place.empty() ? 0 : sample.builder.place(c.place)) + c.offset, c.value, c.width);
  EXPECT_THAT(read_bytes(sample.file), FailsWith(c.code, c.message)) << c.place << " + " << c.offset;
}

constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;

INSTANTIATE_TEST_SUITE_P(Superblock, SpoiledTest,
                         ::testing::Values(Spoiled{"", 0, 0, 1, Code::kDataLoss, "no HDF5 signature"},
                                           Spoiled{"", 8, 4, 1, Code::kUnimplemented, "version 4"},
                                           Spoiled{"", 9, 1, 1, Code::kDataLoss, "versions of its parts"},
                                           Spoiled{"", 10, 1, 1, Code::kDataLoss, "versions of its parts"},
                                           Spoiled{"", 12, 1, 1, Code::kDataLoss, "versions of its parts"},
                                           Spoiled{"", 13, 0, 1, Code::kDataLoss, "of 0 bytes"},
                                           Spoiled{"", 13, 3, 1, Code::kDataLoss, "of 3 bytes"},
                                           Spoiled{"", 13, 255, 1, Code::kDataLoss, "of 255 bytes"},
                                           Spoiled{"", 14, 16, 1, Code::kUnimplemented, "of 16 bytes"},
                                           Spoiled{"", 14, 9, 1, Code::kDataLoss, "of 9 bytes"},
                                           Spoiled{"", 16, 0, 2, Code::kDataLoss, "rank of 0"},
                                           Spoiled{"", 18, 0, 2, Code::kDataLoss, "rank of 0"},
                                           Spoiled{"", 40, kHuge, 8, Code::kDataLoss, "truncated"},
                                           Spoiled{"", 40, 100, 8, Code::kDataLoss, "reach beyond the end at byte 100"},
                                           Spoiled{"", 40, kUndefined, 8, Code::kDataLoss, "make no sense"},
                                           Spoiled{"", 24, kUndefined - 1, 8, Code::kDataLoss, "make no sense"},
                                           Spoiled{"", 48, 96, 8, Code::kUnimplemented, "several files"},
                                           Spoiled{"", 64, kUndefined, 8, Code::kDataLoss, "root group has no address"},
                                           Spoiled{"", 64, kHuge, 8, Code::kDataLoss, "object '/': object header"},
                                           Spoiled{"", 64, 0, 8, Code::kDataLoss, "neither version 1 nor version 2"}));

INSTANTIATE_TEST_SUITE_P(
    GroupTree, SpoiledTest,
    ::testing::Values(Spoiled{"root.tree", 0, 0, 1, Code::kDataLoss, "B-tree node at byte"},
                      Spoiled{"root.tree", 4, 1, 1, Code::kDataLoss, "type 1 where 0 is expected"},
                      Spoiled{"root.tree", 5, 1, 1, Code::kDataLoss, "signature is missing"},
                      Spoiled{"root.tree", 5, 255, 1, Code::kDataLoss, "level 255"},
                      Spoiled{"root.tree", 6, 33, 2, Code::kDataLoss, "33 children, where the superblock allows 32"},
                      Spoiled{"root.tree", 24, 16, 8, Code::kDataLoss, "outside the keys 'g' and 'g'"},
                      Spoiled{"root.tree", 24, 4000, 8, Code::kDataLoss, "a name at offset 4000, outside"},
                      Spoiled{"root.tree", 32, kUndefined, 8, Code::kDataLoss, "child 0 has no address"},
                      Spoiled{"root.tree", 32, kHuge, 8, Code::kDataLoss, "symbol table node at byte"},
                      Spoiled{"root.tree", 32, 0, 8, Code::kDataLoss, "symbol table node at byte 0: its signature"},
                      Spoiled{"root.tree", 40, 8, 8, Code::kDataLoss, "name 'g' is outside the keys '' and 'd'"},
                      Spoiled{"root.tree", 40, 0, 8, Code::kDataLoss, "outside the keys"}));

INSTANTIATE_TEST_SUITE_P(
    SymbolNode, SpoiledTest,
    ::testing::Values(Spoiled{"root.node", 0, 0, 1, Code::kDataLoss, "signature is missing"},
                      Spoiled{"root.node", 4, 2, 1, Code::kDataLoss, "version 2"},
                      Spoiled{"root.node", 6, 9, 2, Code::kDataLoss, "9 entries, it has room for 8"},
                      Spoiled{"root.node", 8, 16, 8, Code::kDataLoss, "names 'g' and 'g' are out of order"},
                      Spoiled{"root.node", 8, kHuge, 8, Code::kDataLoss, "outside its 24 bytes"},
                      Spoiled{"root.node", 16, kUndefined, 8, Code::kDataLoss, "link 'd' leads to no address"},
                      Spoiled{"root.node", 16, kHuge, 8, Code::kDataLoss, "object '/d': object header at byte"},
                      Spoiled{"root.node", 24, 3, 4, Code::kDataLoss, "cache type 3"},
                      Spoiled{"root.node", 24, 2, 4, Code::kUnimplemented, "'d': Not allowed: H5 file with SoftLink"}));

INSTANTIATE_TEST_SUITE_P(
    LocalHeap, SpoiledTest,
    ::testing::Values(Spoiled{"root.heap", 0, 0, 1, Code::kDataLoss, "local heap at byte"},
                      Spoiled{"root.heap", 4, 1, 1, Code::kDataLoss, "version 1"},
                      Spoiled{"root.heap", 8, kHuge, 8, Code::kDataLoss, "reach beyond the end"},
                      Spoiled{"root.heap", 8, 0, 8, Code::kDataLoss, "outside its 0 bytes"},
                      Spoiled{"root.heap", 8, 17, 8, Code::kDataLoss, "no NUL before byte"},
                      Spoiled{"root.heap", 24, kUndefined - 4, 8, Code::kDataLoss, "reach beyond the end"},
                      Spoiled{"root.names", 8, '/', 1, Code::kDataLoss, "a link with the name '/'"},
                      Spoiled{"root.names", 8, '.', 1, Code::kDataLoss, "a link with the name '.'"},
                      Spoiled{"root.names", 8, 0, 1, Code::kDataLoss, "out"},
                      Spoiled{"g.names", 8, 0x2e2e, 2, Code::kDataLoss, "a link with the name '..'"}));

INSTANTIATE_TEST_SUITE_P(
    ObjectHeader, SpoiledTest,
    ::testing::Values(Spoiled{"d.header", 0, 3, 1, Code::kDataLoss, "object '/d': object header at byte"},
                      Spoiled{"d.header", 8, 4000, 4, Code::kDataLoss, "reach beyond the end"},
                      Spoiled{"d.header", 8, 0xffffffff, 4, Code::kDataLoss, "reach beyond the end"},
                      Spoiled{"d.header", 8, 12, 4, Code::kDataLoss, "a message of 16 bytes reaches beyond the block"},
                      Spoiled{"d.header", 8, 0, 4, Code::kDataLoss, "0 messages, it says 3"},
                      Spoiled{"d.header", 2, 4, 2, Code::kDataLoss, "3 messages, it says 4"},
                      Spoiled{"d.header", 18, 80, 2, Code::kDataLoss, "1 messages, it says 3"},
                      Spoiled{"d.header", 18, 0xffff, 2, Code::kDataLoss, "a message of 65535 bytes reaches beyond"},
                      Spoiled{"d.header", 18, 15, 2, Code::kDataLoss, "not a multiple of 8"},
                      Spoiled{"d.header", 16, 0x03, 2, Code::kDataLoss, "more than one datatype message"},
                      Spoiled{"d.header", 16, 0x11, 2, Code::kDataLoss, "messages of a group and of a dataset"},
                      Spoiled{"d.header", 16, 0x0d, 2, Code::kDataLoss, "a dataset without dataspace message"},
                      Spoiled{"d.header", 20, 2, 1, Code::kUnimplemented, "shared dataspace message"},
                      Spoiled{"d.header", 44, 2, 1, Code::kUnimplemented, "shared datatype message"},
                      Spoiled{"d.header", 40, 0x0d, 2, Code::kDataLoss, "a dataset without datatype message"},
                      Spoiled{"g.header", 16, 0x0d, 2, Code::kDataLoss, "object '/g'"}));

INSTANTIATE_TEST_SUITE_P(
    Dataset, SpoiledTest,
    ::testing::Values(Spoiled{"d.header", 32, kHuge, 8, Code::kDataLoss, "too many bytes"},
                      Spoiled{"d.header", 32, 4, 8, Code::kDataLoss, "needs 16 bytes, its layout says 12"},
                      Spoiled{"d.header", 32, kUndefined, 8, Code::kDataLoss, "dimension 0"},
                      Spoiled{"d.header", 48, 0x13, 1, Code::kUnimplemented, "elements of type string"},
                      Spoiled{"d.header", 48, 0x16, 1, Code::kUnimplemented, "elements of type compound"},
                      Spoiled{"d.header", 49, 0x21, 1, Code::kUnimplemented, "elements of type big-endian"},
                      Spoiled{"d.header", 52, 0, 4, Code::kDataLoss, "elements of 0 bytes"},
                      Spoiled{"d.header", 82, kHuge, 8, Code::kDataLoss, "reach beyond the end"},
                      Spoiled{"d.header", 82, kUndefined - 1, 8, Code::kDataLoss, "reach beyond the end"},
                      Spoiled{"d.header", 90, 11, 8, Code::kDataLoss, "its layout says 11"},
                      Spoiled{"d.header", 81, 3, 1, Code::kUnimplemented, "virtual Dataset"}));

// A file whose root holds the dataset `d` with those messages.
Result<Contents> read_dataset(FileBuilder& builder, const std::vector<TestMessage>& messages) {
  const std::uint64_t header = builder.add(header_v1(messages));
  return read_bytes(builder.finish(builder.add_group({{"d", header}}, "root")));
}

TEST(Malformed, EmptyAndForeignFiles) {
  EXPECT_THAT(read_bytes(""), FailsWith(Code::kDataLoss, "m.h5: no HDF5 signature in 0 bytes"));
  EXPECT_THAT(read_bytes(std::string(5000, 'x')), FailsWith(Code::kDataLoss, "no HDF5 signature"));
}

TEST(Malformed, ContinuationCycle) {
  FileBuilder builder;
  const std::uint64_t block = builder.next();
  builder.add(testing::messages_v1({testing::continuation(block, 24)}));
  EXPECT_THAT(read_dataset(builder, {testing::continuation(block, 24)}),
              FailsWith(Code::kDataLoss, "reached twice (a cycle)"));
}

TEST(Malformed, Continuations) {
  FileBuilder builder;
  EXPECT_THAT(read_dataset(builder, {testing::continuation(kHuge, 24)}), FailsWith(Code::kDataLoss, "beyond the end"));
  EXPECT_THAT(read_dataset(builder, {testing::continuation(96, kHuge)}), FailsWith(Code::kDataLoss, "beyond the end"));
  EXPECT_THAT(read_dataset(builder, {testing::continuation(96, 0)}), FailsWith(Code::kDataLoss, "without bytes"));
  EXPECT_THAT(read_dataset(builder, {testing::continuation(kUndefined, 8)}),
              FailsWith(Code::kDataLoss, "beyond the end"));
}

TEST(Malformed, MessagesThatMustNotBeIgnored) {
  FileBuilder builder;
  const TestMessage unknown{0x99, std::string(8, '\0'), 0x80};
  EXPECT_THAT(read_dataset(builder, {unknown}), FailsWith(Code::kUnimplemented, "unknown type 0x0099"));
  const std::uint64_t data = builder.add("abcd");
  const TestMessage harmless{0x99, std::string(8, '\0'), 0x00};
  EXPECT_THAT(
      read_dataset(builder, {harmless, testing::dataspace({}), testing::float32(), testing::contiguous(data, 4)}),
      IsOk());
}

TEST(Malformed, ObjectsThatAreNeitherGroupNorDataset) {
  FileBuilder builder;
  EXPECT_THAT(read_dataset(builder, {testing::float32()}),
              FailsWith(Code::kUnimplemented, "committed (named) datatype"));
  EXPECT_THAT(read_dataset(builder, {{0x0d, "a comment"}}),
              FailsWith(Code::kDataLoss, "neither a group nor a dataset"));
  EXPECT_THAT(read_dataset(builder, {testing::dataspace({}), testing::float32()}),
              FailsWith(Code::kDataLoss, "a dataset without layout message"));
}

TEST(Malformed, GroupTreeCycles) {
  FileBuilder builder;
  const std::uint64_t names = builder.add(std::string(16, '\0'));
  const std::uint64_t heap = builder.add(Writer().text("HEAP").u8(0).zeros(3).u64(16).u64(1).u64(names));
  const std::uint64_t tree = builder.next();
  const auto read_group = [&](std::uint64_t root) {
    return read_bytes(builder.finish(builder.add(header_v1({testing::symbol_table(root, heap)}))));
  };
  builder.add(testing::group_node(1, {tree}, {0, 0}));
  EXPECT_THAT(read_group(tree), FailsWith(Code::kDataLoss, "reached twice (a cycle)"));
  // The same leaf twice under one node.
  const std::uint64_t leaf = builder.add(testing::group_node(0, {}, {0}));
  EXPECT_THAT(read_group(builder.add(testing::group_node(1, {leaf, leaf}, {0, 0, 0}))),
              FailsWith(Code::kDataLoss, "reached twice"));
  EXPECT_THAT(read_group(builder.add(testing::group_node(2, {leaf}, {0, 0}))),
              FailsWith(Code::kDataLoss, "level 0 under level 2"));
  EXPECT_THAT(read_group(kUndefined), FailsWith(Code::kDataLoss, "no address of B-tree or heap"));
}

TEST(Malformed, HardLinkCycle) {
  FileBuilder builder;
  const std::uint64_t names = builder.add(Writer().zeros(8).text("self").zeros(4));
  const std::uint64_t heap = builder.add(Writer().text("HEAP").u8(0).zeros(3).u64(16).u64(1).u64(names));
  const std::uint64_t node = builder.add(testing::symbol_node({{8, 0}}), "node");
  const std::uint64_t tree = builder.add(testing::group_node(0, {node}, {0, 8}));
  const std::uint64_t root = builder.add(header_v1({testing::symbol_table(tree, heap)}));
  std::string file = builder.finish(root);
  poke(file, builder.place("node") + 16, root, 8);
  EXPECT_THAT(read_bytes(file), FailsWith(Code::kDataLoss, "object '/self': a hard link to a group that it lies in"));
}

TEST(Malformed, GroupsNestedTooDeep) {
  FileBuilder builder;
  std::uint64_t group = builder.add_group({}, "leaf");
  for (int depth = 0; depth < 255; ++depth) group = builder.add_group({{"a", group}}, "group");
  EXPECT_THAT(read_bytes(builder.finish(group)), IsOk());
  group = builder.add_group({{"a", group}}, "group");
  EXPECT_THAT(read_bytes(builder.finish(group)), FailsWith(Code::kResourceExhausted, "nested more than 256 deep"));
}

// Forty groups, each with two hard links to the next: 2^40 paths in a few kilobytes.
TEST(Malformed, HardLinkBomb) {
  FileBuilder builder;
  std::uint64_t group = builder.add_vector({1}, "v");
  for (int depth = 0; depth < 40; ++depth) group = builder.add_group({{"a", group}, {"b", group}}, "group");
  EXPECT_THAT(read_bytes(builder.finish(group)), FailsWith(Code::kResourceExhausted, "refer to each other many times"));
}

TEST(Malformed, OpaqueData) {
  FileBuilder builder;
  const std::uint64_t data = builder.add("abcdabcd");
  const TestMessage bfloat16 = testing::text_attribute("dtype", "bfloat16");
  const auto read_opaque = [&](std::uint32_t size, std::vector<TestMessage> more) {
    more.insert(more.end(), {testing::dataspace({2}), testing::opaque(size), testing::contiguous(data, 2 * size)});
    return read_dataset(builder, more);
  };
  EXPECT_THAT(read_opaque(2, {bfloat16}), IsOk());
  EXPECT_THAT(read_opaque(2, {}), FailsWith(Code::kUnimplemented, "opaque elements of 2 bytes without"));
  EXPECT_THAT(read_opaque(2, {testing::text_attribute("dtype", "float16")}), FailsWith(Code::kUnimplemented, "opaque"));
  EXPECT_THAT(read_opaque(1, {bfloat16}), FailsWith(Code::kDataLoss, "opaque elements of 1 bytes, not 2"));
  EXPECT_THAT(read_opaque(4, {bfloat16}), FailsWith(Code::kDataLoss, "opaque elements of 4 bytes, not 2"));
  const TestMessage dense{0x15, Writer().u8(0).u8(0).u64(96).u64(96)};
  EXPECT_THAT(read_opaque(2, {dense}), FailsWith(Code::kDataLoss, "fractal heap at byte 96"));
  EXPECT_THAT(
      read_dataset(builder, {testing::dataspace({2}), testing::float32(), testing::contiguous(data, 8), bfloat16}),
      FailsWith(Code::kDataLoss, "dtype = bfloat16 on elements of type float32"));
  EXPECT_THAT(read_dataset(builder, {testing::dataspace({4}), testing::fixed_point(2, true),
                                     testing::contiguous(data, 8), bfloat16}),
              FailsWith(Code::kDataLoss, "dtype = bfloat16 on elements of type int16"));
}

TEST(Malformed, GlobalHeapReferences) {
  FileBuilder builder;
  const auto heap = [&](std::uint64_t size, std::uint64_t object_size) {
    return builder.add(
        Writer().text("GCOL").u8(1).zeros(3).u64(size).u16(1).u16(0).u32(0).u64(object_size).text("bfloat16"));
  };
  const auto read_attribute = [&](std::uint64_t collection, std::uint32_t length, std::uint32_t index) {
    return read_bytes(
        builder.finish(builder.add_group({}, "root", {testing::heap_attribute("name", length, collection, index)})));
  };
  const std::uint64_t good = heap(40, 8);
  EXPECT_THAT(read_attribute(good, 8, 1), IsOk());
  EXPECT_THAT(read_attribute(good, 8, 2),
              FailsWith(Code::kDataLoss, "attribute 'name': global heap collection at byte"));
  EXPECT_THAT(read_attribute(good, 9, 1), FailsWith(Code::kDataLoss, "object 1 has 8 bytes, a reference says 9"));
  EXPECT_THAT(read_attribute(good + 8, 8, 1), FailsWith(Code::kDataLoss, "signature is missing"));
  EXPECT_THAT(read_attribute(kHuge, 8, 1), FailsWith(Code::kDataLoss, "reach beyond the end"));
  EXPECT_THAT(read_attribute(kUndefined, 8, 1), FailsWith(Code::kDataLoss));
  EXPECT_THAT(read_attribute(heap(kHuge, 8), 8, 1), FailsWith(Code::kDataLoss, "reach beyond the end"));
  EXPECT_THAT(read_attribute(heap(8, 8), 8, 1), FailsWith(Code::kDataLoss, "reach beyond the end"));
  EXPECT_THAT(read_attribute(heap(40, 9), 8, 1), FailsWith(Code::kDataLoss, "does not fit the collection"));
  EXPECT_THAT(read_attribute(heap(40, kUndefined), 8, 1), FailsWith(Code::kDataLoss, "does not fit the collection"));
  // Free space of size 0 would be walked for ever.
  const std::uint64_t stuck = builder.add(Writer().text("GCOL").u8(1).zeros(3).u64(64).zeros(48));
  EXPECT_THAT(read_attribute(stuck, 8, 1), FailsWith(Code::kDataLoss, "does not fit the collection"));
}

TEST(Malformed, Attributes) {
  FileBuilder builder;
  const auto read_group = [&](std::vector<TestMessage> messages) {
    return read_bytes(builder.finish(builder.add_group({}, "root", std::move(messages))));
  };
  const TestMessage good = testing::text_attribute("name", "dense");
  EXPECT_THAT(read_group({good, good}), FailsWith(Code::kDataLoss, "attribute 'name' stands in the header twice"));
  TestMessage bad = good;
  bad.body[0] = 4;
  EXPECT_THAT(read_group({bad}), FailsWith(Code::kDataLoss, "attribute message at byte"));
  bad = good;
  bad.body[2] = 3;  // the name ends before its NUL
  EXPECT_THAT(read_group({bad}), FailsWith(Code::kDataLoss, "a name that is empty or has no end"));
  bad = good;
  bad.body[20] = 9;  // a string of 9 bytes, where 5 (padded to 8) are
  EXPECT_THAT(read_group({bad}), FailsWith(Code::kDataLoss, "1 strings of 9 bytes, 8 bytes are there"));
}

TEST(Malformed, Chunks) {
  FileBuilder builder;
  const std::uint64_t data = builder.add(std::string(64, 'x'));
  const auto read_chunks = [&](const std::vector<testing::TestChunk>& chunks, std::uint64_t end,
                               std::uint8_t level = 0) {
    const std::uint64_t tree = builder.add(testing::chunk_node(level, chunks, end));
    return read_dataset(builder, {testing::dataspace({12}), testing::float32(), testing::chunked(tree, {4}, 4)});
  };
  EXPECT_THAT(read_chunks({{0, 16, data}, {4, 16, data + 16}}, 8), IsOk());
  EXPECT_THAT(read_chunks({{0, 16, data}, {0, 16, data + 16}}, 8),
              FailsWith(Code::kDataLoss, "element [0] is out of order or stored twice"));
  EXPECT_THAT(read_chunks({{4, 16, data}, {0, 16, data + 16}}, 8),
              FailsWith(Code::kDataLoss, "keys 0 and 1 are out of order"));
  // The key that ends a tree stands inside the last element, so the last chunk may begin there.
  EXPECT_THAT(read_chunks({{0, 16, data}, {8, 16, data + 16}}, 8), IsOk());
  EXPECT_THAT(read_chunks({{0, 16, data}, {8, 16, data + 16}}, 4), FailsWith(Code::kDataLoss, "out of order"));
  EXPECT_THAT(read_chunks({{2, 16, data}}, 8),
              FailsWith(Code::kDataLoss, "a chunk at element [2], where none can begin"));
  EXPECT_THAT(read_chunks({{12, 16, data}}, 16),
              FailsWith(Code::kDataLoss, "a chunk at element [12], where none can begin"));
  EXPECT_THAT(read_chunks({{0, 15, data}}, 4), FailsWith(Code::kDataLoss, "15 bytes are stored for 16"));
  EXPECT_THAT(read_chunks({{0, 16, kHuge}}, 4), FailsWith(Code::kDataLoss, "reach beyond the end"));
  EXPECT_THAT(read_chunks({{0, 0xffffffff, data}}, 4), FailsWith(Code::kDataLoss, "reach beyond the end"));
  EXPECT_THAT(read_chunks({{0, 16, kUndefined}}, 4), FailsWith(Code::kDataLoss, "child 0 has no address"));
  EXPECT_THAT(read_chunks({{0, 16, data}, {4, 16, data + 15}}, 8),
              FailsWith(Code::kDataLoss, "two chunks share bytes"));
  EXPECT_THAT(read_chunks({{0, 16, data, 1}}, 4),
              FailsWith(Code::kDataLoss, "filter mask 0x1 names more than its 0 filters"));
  EXPECT_THAT(read_chunks({{0, 16, builder.next()}}, 4, 1), FailsWith(Code::kDataLoss, "reached twice (a cycle)"));
  EXPECT_THAT(read_chunks({{0, 16, data}}, 4, 1), FailsWith(Code::kDataLoss, "signature is missing"));
}

TEST(Malformed, ChunkedLayouts) {
  FileBuilder builder;
  const auto read_layout = [&](std::vector<std::uint64_t> shape, const TestMessage& layout) {
    return read_dataset(builder, {testing::dataspace(shape), testing::float32(), layout});
  };
  EXPECT_THAT(read_layout({12}, testing::chunked(kUndefined, {4}, 4)), IsOk());
  EXPECT_THAT(read_layout({12}, testing::chunked(kUndefined, {4, 4}, 4)),
              FailsWith(Code::kDataLoss, "chunks of rank 2 in a dataset of rank 1"));
  EXPECT_THAT(read_layout({}, testing::chunked(kUndefined, {4}, 4)),
              FailsWith(Code::kDataLoss, "chunks of rank 1 in a dataset of rank 0"));
  EXPECT_THAT(read_layout({12}, testing::chunked(kUndefined, {4}, 8)),
              FailsWith(Code::kDataLoss, "elements of 8 bytes, the datatype has 4"));
  EXPECT_THAT(read_layout({12}, testing::chunked(kUndefined, {1u << 30}, 4)),
              FailsWith(Code::kDataLoss, "chunks of more than 4294967295 bytes"));
  EXPECT_THAT(read_layout({12, 12}, testing::chunked(kUndefined, {0xffffffff, 0xffffffff}, 4)),
              FailsWith(Code::kDataLoss, "chunks of more than"));
}

TEST(Malformed, FilteredChunks) {
  FileBuilder builder;
  const std::uint64_t data = builder.add(std::string(4096, 'x'));
  const auto read_chunk = [&](const Writer& filters, std::uint64_t count, std::uint32_t stored, std::uint32_t skipped) {
    const std::uint64_t tree = builder.add(testing::chunk_node(0, {{0, stored, data, skipped}}, 4));
    const TestMessage pipeline{0x0b, Writer().u8(2).u8(count).text(filters)};
    return read_dataset(builder,
                        {testing::dataspace({4}), testing::float32(), testing::chunked(tree, {4}, 4), pipeline});
  };
  const Writer deflate = Writer().u16(1).u16(0).u16(1).u32(6);
  const Writer fletcher = Writer().u16(3).u16(0).u16(0);
  EXPECT_THAT(read_chunk(deflate, 1, 9, 0), IsOk());
  EXPECT_THAT(read_chunk(deflate, 1, 0, 0), FailsWith(Code::kDataLoss, "0 bytes are stored for 16"));
  EXPECT_THAT(read_chunk(deflate, 1, 4000, 0), FailsWith(Code::kDataLoss, "4000 bytes are stored for 16"));
  EXPECT_THAT(read_chunk(deflate, 1, 9, 1), FailsWith(Code::kDataLoss, "9 bytes are stored for 16"));
  EXPECT_THAT(read_chunk(deflate, 1, 16, 1), IsOk());
  EXPECT_THAT(read_chunk(deflate, 1, 16, 2), FailsWith(Code::kDataLoss, "names more than its 1 filters"));
  EXPECT_THAT(read_chunk(fletcher, 1, 20, 0), IsOk());
  EXPECT_THAT(read_chunk(fletcher, 1, 16, 0), FailsWith(Code::kDataLoss, "16 bytes are stored for 20"));
  EXPECT_THAT(read_chunk(Writer().u16(4).u16(0).u16(0), 1, 16, 0),
              FailsWith(Code::kUnimplemented, "object '/d': filter 4 (szip)"));
}

TEST(Malformed, FiltersWithoutChunks) {
  FileBuilder builder;
  const std::uint64_t data = builder.add("abcd");
  EXPECT_THAT(read_dataset(builder, {testing::dataspace({}),
                                     testing::float32(),
                                     testing::contiguous(data, 4),
                                     {0x0b, Writer().u8(2).u8(1).u16(1).u16(0).u16(0)}}),
              FailsWith(Code::kUnimplemented, "filters on a dataset that is not chunked"));
}

TEST(Malformed, ShapeBombs) {
  FileBuilder builder;
  const std::uint64_t elements = std::uint64_t{3} << 29;  // 6 GiB
  const char* const kText =
      "object '/d': Not allowed: H5 dataset 'd' declares 6.00 GB but only 0.00 B are stored on disk; refusing to load "
      "a "
      "potential decompression/shape bomb.";
  EXPECT_THAT(
      read_dataset(builder, {testing::dataspace({elements}), testing::float32(), testing::chunked(kUndefined, {4}, 4)}),
      FailsWith(Code::kDataLoss, kText));
  EXPECT_THAT(read_dataset(builder, {testing::dataspace({elements}), testing::float32(),
                                     testing::contiguous(kUndefined, 4 * elements)}),
              FailsWith(Code::kDataLoss, kText));
  // A gigabyte of never-written values is odd, but allowed.
  EXPECT_THAT(read_dataset(builder, {testing::dataspace({1u << 28}), testing::float32(),
                                     testing::contiguous(kUndefined, 1u << 30)}),
              IsOk());
  // One cell of 2^58 stored.
  const std::uint64_t data = builder.add("abcd");
  const std::uint64_t tree = builder.add(testing::chunk_node(0, {{1000, 4, data}}, 1001));
  EXPECT_THAT(read_dataset(builder, {testing::dataspace({std::uint64_t{1} << 58}), testing::float32(),
                                     testing::chunked(tree, {1}, 4)}),
              FailsWith(Code::kDataLoss, "shape bomb"));
}

TEST(Malformed, ExternalAndNullDatasets) {
  FileBuilder builder;
  EXPECT_THAT(read_dataset(builder, {testing::dataspace({4}),
                                     testing::float32(),
                                     testing::contiguous(kUndefined, 16),
                                     {0x07, std::string(40, '\0')}}),
              FailsWith(Code::kUnimplemented, "external Dataset"));
  EXPECT_THAT(
      read_dataset(builder,
                   {{0x01, Writer().u8(2).u8(0).u8(0).u8(2)}, testing::float32(), testing::contiguous(kUndefined, 0)}),
      FailsWith(Code::kUnimplemented, "null dataspace"));
}

TEST(Malformed, Links) {
  FileBuilder builder;
  const TestMessage info{0x02, Writer().u8(0).u8(0).u64(kUndefined).u64(kUndefined)};
  const auto read_links = [&](const std::vector<Writer>& links) {
    std::vector<TestMessage> messages = {info};
    for (const Writer& link : links) messages.push_back({0x06, link});
    return read_bytes(builder.finish(builder.add(header_v2(messages))));
  };
  const std::uint64_t vector = builder.add_vector({1}, "v");
  const Writer good = Writer().u8(1).u8(0).u8(1).text("v").u64(vector);
  EXPECT_THAT(read_links({good}), IsOk());
  EXPECT_THAT(read_links({good, good}), FailsWith(Code::kDataLoss, "two links with the name 'v'"));
  EXPECT_THAT(read_links({Writer().u8(1).u8(8).u8(1).u8(1).text("v").u16(1).text("w")}),
              FailsWith(Code::kUnimplemented, "object '/': 'v': Not allowed: H5 file with SoftLink"));
  EXPECT_THAT(read_links({Writer().u8(1).u8(8).u8(64).u8(1).text("v").u16(1).text("w")}),
              FailsWith(Code::kUnimplemented, "Not allowed: H5 file with ExternalLink"));
  EXPECT_THAT(read_links({Writer().u8(1).u8(8).u8(65).u8(1).text("v").u64(0)}),
              FailsWith(Code::kUnimplemented, "user-defined link"));
  EXPECT_THAT(read_links({Writer().u8(1).u8(8).u8(2).u8(1).text("v").u64(0)}),
              FailsWith(Code::kDataLoss, "link of type 2"));
  EXPECT_THAT(read_links({Writer().u8(2).u8(0).u8(1).text("v").u64(vector)}), FailsWith(Code::kDataLoss, "version 2"));
  EXPECT_THAT(read_links({Writer().u8(1).u8(0).u8(0).u64(vector)}), FailsWith(Code::kDataLoss, "the name ''"));
  EXPECT_THAT(read_links({Writer().u8(1).u8(0).u8(3).text("a/b").u64(vector)}),
              FailsWith(Code::kDataLoss, "the name 'a/b'"));
  EXPECT_THAT(read_links({Writer().u8(1).u8(0).u8(3).text({"a\0b", 3}).u64(vector)}),
              FailsWith(Code::kDataLoss, "a link with the name"));
  EXPECT_THAT(read_links({Writer().u8(1).u8(0).u8(200).text("v").u64(vector)}), FailsWith(Code::kDataLoss));
}

}  // namespace
}  // namespace shardwise::hdf5
