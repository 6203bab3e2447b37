// Small HDF5 files made byte by byte, for tests: every field can be wrong on purpose.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/hdf5/cursor.h"

namespace shardwise::hdf5::testing {

// Appends little-endian fields.
class Writer {
 public:
  Writer& uint(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
    return *this;
  }
  Writer& u8(std::uint64_t v) { return uint(v, 1); }
  Writer& u16(std::uint64_t v) { return uint(v, 2); }
  Writer& u32(std::uint64_t v) { return uint(v, 4); }
  Writer& u64(std::uint64_t v) { return uint(v, 8); }
  Writer& text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  Writer& zeros(std::size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }
  // Zeros up to a multiple of `to` bytes.
  Writer& pad(std::size_t to = 8) { return zeros((to - bytes_.size() % to) % to); }
  // The checksum of all bytes so far.
  Writer& checksum();
  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  operator const std::string&() const { return bytes_; }
  operator std::string_view() const { return bytes_; }

 private:
  std::string bytes_;
};

struct TestMessage {
  std::uint16_t type = 0;
  std::string body;
  std::uint8_t flags = 0;
};

// Messages as the library writes them by default.
TestMessage dataspace(const std::vector<std::uint64_t>& shape);
TestMessage float32();
TestMessage fixed_point(std::uint32_t size, bool is_signed);
TestMessage opaque(std::uint32_t size);
TestMessage contiguous(std::uint64_t address, std::uint64_t size);
TestMessage chunked(std::uint64_t tree, const std::vector<std::uint32_t>& dims, std::uint32_t element_size);
TestMessage fill(std::string_view value);
TestMessage symbol_table(std::uint64_t tree, std::uint64_t heap);
TestMessage continuation(std::uint64_t address, std::uint64_t size);
// Scalar fixed-length string.
TestMessage text_attribute(std::string_view name, std::string_view value);
// Scalar variable-length string: `length` bytes of that object of a global heap.
TestMessage heap_attribute(std::string_view name, std::uint32_t length, std::uint64_t collection, std::uint32_t index);

// The messages, each with its prefix, as they stand in a block of a version 1 header.
std::string messages_v1(const std::vector<TestMessage>& messages);
// Whole headers. `elsewhere`: messages in continuations, which count too. Version 2 has its checksum.
std::string header_v1(const std::vector<TestMessage>& messages, std::size_t elsewhere = 0);
std::string header_v2(const std::vector<TestMessage>& messages);

// A leaf or inner node of a chunk B-tree: one-dimensional chunks at `origins` of `bytes` stored each, `end` the last
// key.
struct TestChunk {
  std::uint64_t origin = 0;
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;
  std::uint32_t skipped_filters = 0;
};
std::string chunk_node(std::uint8_t level, const std::vector<TestChunk>& chunks, std::uint64_t end);
std::string group_node(std::uint8_t level, const std::vector<std::uint64_t>& children,
                       const std::vector<std::uint64_t>& key_offsets);
std::string symbol_node(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& name_offset_and_header);

// Puts records one after the other behind a version 0 superblock and remembers where. Addresses count from the
// superblock; `place()` counts from the file's first byte.
class FileBuilder {
 public:
  static constexpr std::size_t kSuperblockSize = 96;

  explicit FileBuilder(std::size_t user_block = 0) : base_(user_block), bytes_(user_block + kSuperblockSize, '\0') {}

  // Appends at a multiple of 8; returns the address.
  std::uint64_t add(std::string_view record, const std::string& place = "");
  // An old-style group with one leaf: names need to be sorted. Remembers NAME.header, .tree, .node, .heap, .names.
  std::uint64_t add_group(const std::vector<std::pair<std::string, std::uint64_t>>& links, const std::string& place,
                          std::vector<TestMessage> more = {});
  // A float32 vector with those values. Remembers NAME.header, .data.
  std::uint64_t add_vector(const std::vector<float>& values, const std::string& place);
  // The address that the next add() gives.
  std::uint64_t next() const { return (bytes_.size() - base_ + 7) / 8 * 8; }
  std::uint64_t place(const std::string& name) const { return places_.at(name); }

  // Writes the superblock and returns the file.
  std::string finish(std::uint64_t root_header);

 private:
  std::size_t base_;
  std::string bytes_;
  std::map<std::string, std::uint64_t> places_;
};

// Overwrites `width` bytes at `offset`.
void poke(std::string& file, std::uint64_t offset, std::uint64_t value, int width);

}  // namespace shardwise::hdf5::testing
