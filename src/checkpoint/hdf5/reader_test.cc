// What hdf5::read makes of well-formed files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "checkpoint/hdf5/checksum.h"
#include "checkpoint/hdf5/file_builder_testing.h"
#include "checkpoint/hdf5/hdf5.h"
#include "io/memory_file.h"
#include "testing/matchers.h"

namespace shardwise::hdf5 {
namespace {

using ::testing::ElementsAre;
using testing::FileBuilder;
using testing::header_v1;
using testing::header_v2;
using ::testing::Pair;
using testing::TestChunk;
using testing::Writer;

Result<Contents> read_bytes(const std::string& file, const OpenOptions& options = {}) {
  return read(MemoryFile("m.h5", file), options);
}

std::vector<std::string> names_of(const Contents& contents) {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : contents.datasets) names.push_back(tensor.name);
  return names;
}

// A file whose root holds one dataset `d` with those messages.
std::string file_with(FileBuilder& builder, const std::vector<testing::TestMessage>& messages) {
  const std::uint64_t header = builder.add(header_v1(messages), "d.header");
  return builder.finish(builder.add_group({{"d", header}}, "root"));
}

TEST(Signature, StandsAtPowersOfTwoFrom512On) {
  const std::string signature("\x89HDF\r\n\x1a\n", 8);
  for (const std::size_t at : {0u, 512u, 1024u, 4096u}) {
    EXPECT_TRUE(has_signature(MemoryFile("m.h5", std::string(at, 'x') + signature))) << at;
  }
  for (const std::size_t at : {1u, 256u, 513u, 1536u}) {
    EXPECT_FALSE(has_signature(MemoryFile("m.h5", std::string(at, 'x') + signature))) << at;
  }
  EXPECT_FALSE(has_signature(MemoryFile("m.h5", "")));
  EXPECT_FALSE(has_signature(MemoryFile("m.h5", signature.substr(0, 7))));
}

TEST(Read, GroupsInOrderWithTheirAttributes) {
  FileBuilder builder;
  const std::uint64_t a = builder.add_vector({1}, "a");
  const std::uint64_t vars = builder.add_group({{"0", a}}, "vars", {testing::text_attribute("name", "dense")});
  const std::uint64_t b = builder.add_vector({2, 3}, "b");
  const auto contents = read_bytes(builder.finish(builder.add_group({{"b", b}, {"vars", vars}}, "root")));
  ASSERT_THAT(contents, IsOk());
  EXPECT_THAT(names_of(*contents), ElementsAre("b", "vars/0"));
  ASSERT_EQ(contents->groups.size(), 2u);
  EXPECT_EQ(contents->groups[0].path, "");
  EXPECT_EQ(contents->groups[1].path, "vars");
  EXPECT_THAT(contents->groups[1].attributes, ElementsAre(Pair("name", ElementsAre("dense"))));
}

TEST(Read, AddressesCountFromTheSuperblock) {
  FileBuilder builder(1024);
  const std::uint64_t vector = builder.add_vector({1, 2}, "v");
  std::string file = builder.finish(builder.add_group({{"v", vector}}, "root"));
  const std::uint64_t data = builder.place("v.data");
  EXPECT_GT(data, 1024u);
  auto contents = read_bytes(file);
  ASSERT_THAT(contents, IsOk());
  EXPECT_EQ(contents->datasets[0].extents[0].range, (ByteRange{data, data + 8}));

  // With the user block taken away, the superblock's base address is out of date.
  contents = read_bytes(file.substr(1024));
  ASSERT_THAT(contents, IsOk());
  EXPECT_EQ(contents->datasets[0].extents[0].range, (ByteRange{data - 1024, data - 1024 + 8}));
}

TEST(Read, BytesBehindTheEndOfFileAreNotItsBusiness) {
  FileBuilder builder;
  const std::uint64_t vector = builder.add_vector({1, 2}, "v");
  const std::string file = builder.finish(builder.add_group({{"v", vector}}, "root"));
  EXPECT_THAT(read_bytes(file + "more"), IsOk());
}

TEST(Read, ScalarsAndEmptyTensors) {
  FileBuilder builder;
  const std::uint64_t data = builder.add("abcd");
  const std::uint64_t scalar =
      builder.add(header_v1({testing::dataspace({}), testing::float32(), testing::contiguous(data, 4)}));
  const std::uint64_t empty =
      builder.add(header_v1({testing::dataspace({0, 3}), testing::float32(), testing::contiguous(kUndefined, 0)}));
  const auto contents = read_bytes(builder.finish(builder.add_group({{"empty", empty}, {"scalar", scalar}}, "root")));
  ASSERT_THAT(contents, IsOk());
  EXPECT_EQ(contents->datasets[0].shape, (Shape{0, 3}));
  EXPECT_THAT(contents->datasets[0].extents, ::testing::IsEmpty());
  EXPECT_EQ(contents->datasets[1].shape, Shape{});
  ASSERT_EQ(contents->datasets[1].extents.size(), 1u);
  EXPECT_EQ(contents->datasets[1].extents[0].box, (Box{{}, {}}));
  EXPECT_EQ(contents->datasets[1].extents[0].range.size(), 4u);
}

TEST(Read, NeverWrittenIsOneFillExtent) {
  FileBuilder builder;
  const auto contents = read_bytes(file_with(builder, {testing::dataspace({2, 3}), testing::float32(),
                                                       testing::fill("abcd"), testing::contiguous(kUndefined, 24)}));
  ASSERT_THAT(contents, IsOk());
  const TensorInfo& tensor = contents->datasets[0];
  EXPECT_EQ(tensor.fill, "abcd");
  ASSERT_EQ(tensor.extents.size(), 1u);
  EXPECT_EQ(tensor.extents[0].file, Extent::kNoFile);
  EXPECT_EQ(tensor.extents[0].box, Box::whole({2, 3}));
}

TEST(Read, NeverWrittenWithoutFillValueHasNoValues) {
  FileBuilder builder;
  const testing::TestMessage never_fill{0x05, Writer().u8(2).u8(2).u8(1).u8(1).u32(0)};
  EXPECT_THAT(read_bytes(file_with(builder, {testing::dataspace({2}), testing::float32(), never_fill,
                                             testing::contiguous(kUndefined, 8)})),
              FailsWith(Code::kDataLoss, "object '/d': elements [0:2] were never written"));
}

TEST(Read, CompactDataLieInTheHeader) {
  FileBuilder builder;
  const std::string file = file_with(
      builder, {testing::dataspace({2}), testing::float32(), {0x08, Writer().u8(3).u8(0).u16(8).text("01234567")}});
  const auto contents = read_bytes(file);
  ASSERT_THAT(contents, IsOk());
  ASSERT_EQ(contents->datasets[0].extents.size(), 1u);
  const Extent& extent = contents->datasets[0].extents[0];
  EXPECT_EQ(extent.encoding, Extent::kRaw);
  EXPECT_EQ(file.substr(extent.range.begin, extent.range.size()), "01234567");
}

TEST(Read, OpaquePairsWithTheAttributeAreBfloat16) {
  FileBuilder builder;
  const std::uint64_t data = builder.add("abcd");
  const auto contents =
      read_bytes(file_with(builder, {testing::dataspace({2}), testing::opaque(2), testing::contiguous(data, 4),
                                     testing::text_attribute("dtype", "bfloat16")}));
  ASSERT_THAT(contents, IsOk());
  EXPECT_EQ(contents->datasets[0].dtype, DType::kBfloat16);
  EXPECT_THAT(contents->dataset_attributes[0], ElementsAre(Pair("dtype", ElementsAre("bfloat16"))));
}

TEST(Read, VariableLengthStringsComeFromTheGlobalHeap) {
  FileBuilder builder;
  Writer heap;
  heap.text("GCOL").u8(1).zeros(3).u64(16 + 24 + 24 + 16);
  heap.u16(1).u16(0).u32(0).u64(5).text("first").zeros(3);
  heap.u16(2).u16(0).u32(0).u64(8).text("bfloat16");
  heap.u16(0).u16(0).u32(0).u64(16);
  const std::uint64_t collection = builder.add(heap);
  const std::uint64_t data = builder.add("abcd");
  const auto contents = read_bytes(file_with(
      builder, {testing::dataspace({2}), testing::opaque(2), testing::contiguous(data, 4),
                testing::heap_attribute("a", 5, collection, 1), testing::heap_attribute("b", 3, collection, 1),
                testing::heap_attribute("c", 0, 0, 0), testing::heap_attribute("dtype", 8, collection, 2)}));
  ASSERT_THAT(contents, IsOk());
  EXPECT_EQ(contents->datasets[0].dtype, DType::kBfloat16);
  EXPECT_THAT(contents->dataset_attributes[0],
              ElementsAre(Pair("a", ElementsAre("first")), Pair("b", ElementsAre("fir")), Pair("c", ElementsAre("")),
                          Pair("dtype", ElementsAre("bfloat16"))));
}

TEST(Read, FixedStringsEndAsTheirTypeSays) {
  FileBuilder builder;
  const auto attribute = [](std::string_view name, int padding, std::string_view value) {
    testing::TestMessage message = testing::text_attribute(name, value);
    message.body[17] = static_cast<char>(padding);  // behind the 8 bytes of prefix, 8 of name and the class
    return message;
  };
  using namespace std::string_view_literals;
  const auto contents = read_bytes(builder.finish(builder.add_group(
      {}, "root", {attribute("a", 0, "x\0y "sv), attribute("b", 1, "x\0y \0\0"sv), attribute("c", 2, "x\0y  "sv)})));
  ASSERT_THAT(contents, IsOk());
  EXPECT_THAT(
      contents->groups[0].attributes,
      ElementsAre(Pair("a", ElementsAre("x")), Pair("b", ElementsAre("x\0y "sv)), Pair("c", ElementsAre("x\0y"sv))));
}

TEST(Read, HardLinksShowTheObjectUnderEachName) {
  FileBuilder builder;
  const std::uint64_t vector = builder.add_vector({1, 2}, "v");
  const std::uint64_t group = builder.add_group({{"v", vector}}, "group");
  const auto contents =
      read_bytes(builder.finish(builder.add_group({{"a", vector}, {"b", vector}, {"g", group}, {"h", group}}, "root")));
  ASSERT_THAT(contents, IsOk());
  EXPECT_THAT(names_of(*contents), ElementsAre("a", "b", "g/v", "h/v"));
  EXPECT_EQ(contents->datasets[0].extents[0].range, contents->datasets[3].extents[0].range);
}

TEST(Read, Version2HeadersWithLinkMessages) {
  FileBuilder builder;
  const std::uint64_t data = builder.add("0123abcd");
  const testing::TestMessage layout{0x08, Writer().u8(4).u8(1).u64(data).u64(8)};
  const testing::TestMessage space{0x01, Writer().u8(2).u8(1).u8(0).u8(1).u64(2)};
  const std::uint64_t dataset = builder.add(header_v2({space, testing::float32(), layout}));
  const testing::TestMessage info{0x02, Writer().u8(0).u8(0).u64(kUndefined).u64(kUndefined)};
  const auto link = [](std::string_view name, std::uint64_t address) {
    return testing::TestMessage{0x06, Writer().u8(1).u8(0).u8(name.size()).text(name).u64(address)};
  };
  const std::uint64_t root = builder.add(header_v2({info, link("z", dataset), link("a", dataset)}), "root.header");
  std::string file = builder.finish(root);
  const auto contents = read_bytes(file);
  ASSERT_THAT(contents, IsOk());
  EXPECT_THAT(names_of(*contents), ElementsAre("a", "z"));

  file[builder.place("root.header") + 20] ^= 1;
  EXPECT_THAT(read_bytes(file), FailsWith(Code::kDataLoss, "object '/': object header at byte"));
}

TEST(Read, Version3SuperblockHasAChecksum) {
  FileBuilder builder;
  const std::uint64_t vector = builder.add_vector({1, 2}, "v");
  const std::uint64_t root = builder.add_group({{"v", vector}}, "root");
  std::string file = builder.finish(root);
  const Writer superblock = Writer()
                                .text({"\x89HDF\r\n\x1a\n", 8})
                                .u8(3)
                                .u8(8)
                                .u8(8)
                                .u8(0)
                                .u64(0)
                                .u64(kUndefined)
                                .u64(file.size())
                                .u64(root)
                                .checksum();
  file.replace(0, superblock.size(), superblock.bytes());
  EXPECT_THAT(read_bytes(file), IsOk());
  file[20] ^= 1;
  EXPECT_THAT(read_bytes(file), FailsWith(Code::kDataLoss, "superblock at byte 0: checksum"));
}

TEST(Read, ContinuationsOfAHeader) {
  FileBuilder builder;
  const std::uint64_t data = builder.add("01234567");
  const std::string rest = testing::messages_v1({testing::contiguous(data, 8)});
  const std::uint64_t second = builder.add(rest);
  const std::uint64_t header = builder.add(
      header_v1({testing::dataspace({2}), testing::continuation(second, rest.size()), testing::float32()}, 1));
  const auto contents = read_bytes(builder.finish(builder.add_group({{"d", header}}, "root")));
  ASSERT_THAT(contents, IsOk());
  EXPECT_EQ(contents->datasets[0].extents[0].range, (ByteRange{data, data + 8}));
}

TEST(Read, ChunksAndTheGapsBetweenThem) {
  FileBuilder builder;
  const std::uint64_t data = builder.add(std::string(32, 'x'));
  const std::uint64_t tree = builder.add(testing::chunk_node(0, {{4, 16, data}, {16, 16, data + 16}}, 20));
  const auto contents = read_bytes(file_with(
      builder, {testing::dataspace({18}), testing::float32(), testing::chunked(tree, {4}, 4), testing::fill("abcd")}));
  ASSERT_THAT(contents, IsOk());
  const TensorInfo& tensor = contents->datasets[0];
  ASSERT_EQ(tensor.extents.size(), 4u);
  EXPECT_EQ(tensor.extents[0].file, Extent::kNoFile);
  EXPECT_EQ(tensor.extents[0].box, (Box{{0}, {4}}));
  EXPECT_EQ(tensor.extents[1].box, (Box{{4}, {4}}));
  EXPECT_EQ(tensor.extents[1].encoding, Extent::kRaw);
  EXPECT_EQ(tensor.extents[1].range, (ByteRange{data, data + 16}));
  EXPECT_EQ(tensor.extents[2].file, Extent::kNoFile);
  EXPECT_EQ(tensor.extents[2].box, (Box{{8}, {8}}));
  // The edge chunk is stored whole, and cut.
  EXPECT_EQ(tensor.extents[3].box, (Box{{16}, {2}}));
  ASSERT_EQ(tensor.extents[3].encoding, 0u);
  ASSERT_EQ(contents->encodings.size(), 1u);
  EXPECT_THAT(contents->encodings[0].filters, ::testing::IsEmpty());
  EXPECT_EQ(contents->encodings[0].block_shape, (Shape{4}));
}

TEST(Read, FilteredChunksKeepTheirFiltersAndMasks) {
  FileBuilder builder;
  const std::uint64_t data = builder.add(std::string(40, 'x'));
  const std::uint64_t tree = builder.add(testing::chunk_node(0, {{0, 7, data}, {4, 16, data + 7, 2}}, 8));
  const testing::TestMessage pipeline{0x0b,
                                      Writer().u8(2).u8(2).u16(2).u16(0).u16(1).u32(4).u16(1).u16(0).u16(1).u32(6)};
  const auto contents = read_bytes(
      file_with(builder, {testing::dataspace({8}), testing::float32(), testing::chunked(tree, {4}, 4), pipeline}));
  ASSERT_THAT(contents, IsOk());
  const TensorInfo& tensor = contents->datasets[0];
  ASSERT_EQ(tensor.extents.size(), 2u);
  EXPECT_EQ(tensor.extents[0].encoding, 0u);
  EXPECT_EQ(tensor.extents[0].skipped_filters, 0u);
  EXPECT_EQ(tensor.extents[1].encoding, 0u);
  EXPECT_EQ(tensor.extents[1].skipped_filters, 2u);
  ASSERT_EQ(contents->encodings.size(), 1u);
  EXPECT_EQ(contents->encodings[0].filters,
            (std::vector<Filter>{{Filter::Kind::kShuffle, 4}, {Filter::Kind::kDeflate, 0}}));
}

TEST(Read, ChunkTreesOfTwoLevels) {
  FileBuilder builder;
  const std::uint64_t data = builder.add(std::string(48, 'x'));
  const std::uint64_t left = builder.add(testing::chunk_node(0, {{0, 16, data}, {4, 16, data + 16}}, 8));
  const std::uint64_t right = builder.add(testing::chunk_node(0, {{8, 16, data + 32}}, 12));
  const std::uint64_t tree = builder.add(testing::chunk_node(1, {{0, 16, left}, {8, 16, right}}, 12));
  const auto contents =
      read_bytes(file_with(builder, {testing::dataspace({12}), testing::float32(), testing::chunked(tree, {4}, 4)}));
  ASSERT_THAT(contents, IsOk());
  EXPECT_EQ(contents->datasets[0].extents.size(), 3u);
}

TEST(Read, CapsOfTheOptions) {
  FileBuilder builder;
  const std::uint64_t vector = builder.add_vector({1, 2}, "v");
  const std::uint64_t data = builder.add(std::string(32, 'x'));
  const std::uint64_t tree = builder.add(testing::chunk_node(0, {{0, 16, data}, {4, 16, data + 16}}, 8));
  const std::uint64_t chunked =
      builder.add(header_v1({testing::dataspace({8}), testing::float32(), testing::chunked(tree, {4}, 4)}));
  const std::string file = builder.finish(builder.add_group({{"c", chunked}, {"d", chunked}, {"v", vector}}, "root"));
  EXPECT_THAT(read_bytes(file, {.max_tensors = 3, .max_chunks = 4}), IsOk());
  EXPECT_THAT(read_bytes(file, {.max_tensors = 2}), FailsWith(Code::kResourceExhausted, "more than 2 datasets"));
  EXPECT_THAT(read_bytes(file, {.max_chunks = 3}), FailsWith(Code::kResourceExhausted, "chunks"));
}

}  // namespace
}  // namespace shardwise::hdf5
