// The builder of test files, and that what it builds is what it says.
#include <gmock/gmock.h>

#include "checkpoint/hdf5/checksum.h"
#include "checkpoint/hdf5/file_builder_testing.h"
#include "checkpoint/hdf5/hdf5.h"
#include "io/memory_file.h"
#include "testing/matchers.h"

namespace shardwise::hdf5::testing {

Writer& Writer::checksum() { return u32(lookup3(std::as_bytes(std::span(bytes_)))); }

TestMessage dataspace(const std::vector<std::uint64_t>& shape) {
  Writer w;
  w.u8(1).u8(shape.size()).u8(0).zeros(5);
  for (const std::uint64_t extent : shape) w.u64(extent);
  return {0x01, w};
}

TestMessage float32() {
  return {0x03, Writer().u8(0x11).u8(0x20).u8(31).u8(0).u32(4).u16(0).u16(32).u8(23).u8(8).u8(0).u8(23).u32(127)};
}

TestMessage fixed_point(std::uint32_t size, bool is_signed) {
  return {0x03, Writer().u8(0x10).u8(is_signed ? 8 : 0).u16(0).u32(size).u16(0).u16(8 * size)};
}

TestMessage opaque(std::uint32_t size) { return {0x03, Writer().u8(0x15).u8(0).u16(0).u32(size)}; }

TestMessage contiguous(std::uint64_t address, std::uint64_t size) {
  return {0x08, Writer().u8(3).u8(1).u64(address).u64(size)};
}

TestMessage chunked(std::uint64_t tree, const std::vector<std::uint32_t>& dims, std::uint32_t element_size) {
  Writer w;
  w.u8(3).u8(2).u8(dims.size() + 1).u64(tree);
  for (const std::uint32_t extent : dims) w.u32(extent);
  return {0x08, w.u32(element_size)};
}

TestMessage fill(std::string_view value) {
  return {0x05, Writer().u8(2).u8(2).u8(2).u8(1).u32(value.size()).text(value)};
}

TestMessage symbol_table(std::uint64_t tree, std::uint64_t heap) { return {0x11, Writer().u64(tree).u64(heap)}; }

TestMessage continuation(std::uint64_t address, std::uint64_t size) { return {0x10, Writer().u64(address).u64(size)}; }

namespace {

TestMessage attribute(std::string_view name, std::string_view type, std::string_view value) {
  Writer w;
  w.u8(1).u8(0).u16(name.size() + 1).u16(type.size()).u16(8);
  w.text(name).zeros(1).pad().text(type).pad();
  w.u8(1).zeros(7);  // scalar
  return {0x0c, w.text(value)};
}

}  // namespace

TestMessage text_attribute(std::string_view name, std::string_view value) {
  return attribute(name, Writer().u8(0x13).u8(1).u16(0).u32(value.size()), value);
}

TestMessage heap_attribute(std::string_view name, std::uint32_t length, std::uint64_t collection, std::uint32_t index) {
  const Writer type = Writer().u8(0x19).u8(0x01).u8(0x01).u8(0).u32(16).u8(0x10).u8(0).u16(0).u32(1).u16(0).u16(8);
  return attribute(name, type, Writer().u32(length).u64(collection).u32(index));
}

std::string messages_v1(const std::vector<TestMessage>& messages) {
  Writer w;
  for (const TestMessage& message : messages) {
    const Writer body = Writer().text(message.body).pad();
    w.u16(message.type).u16(body.size()).u8(message.flags).zeros(3).text(body);
  }
  return w;
}

std::string header_v1(const std::vector<TestMessage>& messages, std::size_t elsewhere) {
  const std::string body = messages_v1(messages);
  return Writer().u8(1).u8(0).u16(messages.size() + elsewhere).u32(1).u32(body.size()).zeros(4).text(body);
}

std::string header_v2(const std::vector<TestMessage>& messages) {
  Writer body;
  for (const TestMessage& message : messages) {
    body.u8(message.type).u16(message.body.size()).u8(message.flags).text(message.body);
  }
  return Writer().text("OHDR").u8(2).u8(2).u32(body.size()).text(body).checksum();
}

std::string chunk_node(std::uint8_t level, const std::vector<TestChunk>& chunks, std::uint64_t end) {
  Writer w;
  w.text("TREE").u8(1).u8(level).u16(chunks.size()).u64(kUndefined).u64(kUndefined);
  for (const TestChunk& chunk : chunks) {
    w.u32(chunk.bytes).u32(chunk.skipped_filters).u64(chunk.origin).u64(0).u64(chunk.address);
  }
  return w.u32(0).u32(0).u64(end).u64(4);
}

std::string group_node(std::uint8_t level, const std::vector<std::uint64_t>& children,
                       const std::vector<std::uint64_t>& key_offsets) {
  Writer w;
  w.text("TREE").u8(0).u8(level).u16(children.size()).u64(kUndefined).u64(kUndefined);
  for (std::size_t i = 0; i < children.size(); ++i) w.u64(key_offsets[i]).u64(children[i]);
  return w.u64(key_offsets.back());
}

std::string symbol_node(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& entries) {
  Writer w;
  w.text("SNOD").u8(1).u8(0).u16(entries.size());
  for (const auto& [name_offset, header] : entries) w.u64(name_offset).u64(header).u32(0).u32(0).zeros(16);
  return w;
}

std::uint64_t FileBuilder::add(std::string_view record, const std::string& place) {
  const std::uint64_t address = next();
  bytes_.resize(base_ + address);
  bytes_ += record;
  if (!place.empty()) places_[place] = base_ + address;
  return address;
}

std::uint64_t FileBuilder::add_group(const std::vector<std::pair<std::string, std::uint64_t>>& links,
                                     const std::string& place, std::vector<TestMessage> more) {
  Writer names;
  names.zeros(8);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> entries;
  for (const auto& [name, header] : links) {
    entries.emplace_back(names.size(), header);
    names.text(name).zeros(1).pad();
  }
  const std::uint64_t data = add(names, place + ".names");
  const std::uint64_t heap =
      add(Writer().text("HEAP").u8(0).zeros(3).u64(names.size()).u64(1).u64(data), place + ".heap");
  const std::uint64_t node = add(symbol_node(entries), place + ".node");
  const std::uint64_t tree =
      add(links.empty() ? group_node(0, {}, {0}) : group_node(0, {node}, {0, entries.back().first}), place + ".tree");
  more.insert(more.begin(), symbol_table(tree, heap));
  return add(header_v1(more), place + ".header");
}

std::uint64_t FileBuilder::add_vector(const std::vector<float>& values, const std::string& place) {
  const auto bytes = std::as_bytes(std::span(values));
  const std::uint64_t data = add(as_text(bytes), place + ".data");
  return add(header_v1({dataspace({values.size()}), float32(), contiguous(data, bytes.size())}), place + ".header");
}

std::string FileBuilder::finish(std::uint64_t root_header) {
  Writer w;
  w.text({"\x89HDF\r\n\x1a\n", 8}).u8(0).u8(0).u8(0).u8(0).u8(0).u8(8).u8(8).u8(0).u16(4).u16(16).u32(0);
  w.u64(base_).u64(kUndefined).u64(bytes_.size()).u64(kUndefined);
  w.u64(0).u64(root_header).u32(0).u32(0).zeros(16);
  bytes_.replace(base_, kSuperblockSize, w.bytes());
  return bytes_;
}

void poke(std::string& file, std::uint64_t offset, std::uint64_t value, int width) {
  file.replace(offset, static_cast<std::size_t>(width), Writer().uint(value, width).bytes());
}

TEST(FileBuilder, MakesFilesThatTheReaderReads) {
  FileBuilder builder;
  const std::uint64_t vector = builder.add_vector({1, 2, 3}, "v");
  const std::string file = builder.finish(builder.add_group({{"v", vector}}, "root"));

  const auto contents = read(MemoryFile("m.h5", file));
  ASSERT_THAT(contents, IsOk());
  ASSERT_EQ(contents->datasets.size(), 1u);
  const TensorInfo& tensor = contents->datasets[0];
  EXPECT_EQ(tensor.name, "v");
  EXPECT_EQ(tensor.dtype, DType::kFloat32);
  EXPECT_EQ(tensor.shape, (Shape{3}));
  ASSERT_EQ(tensor.extents.size(), 1u);
  EXPECT_EQ(tensor.extents[0].range, (ByteRange{builder.place("v.data"), builder.place("v.data") + 12}));
}

}  // namespace shardwise::hdf5::testing
