// Small HDF5 files for tests, laid out as h5py lays out Keras weights: superblock 0, symbol tables, contiguous float32.
// Header only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shardwise::tiny {

// Little-endian bytes of a file under construction.
class Blob {
 public:
  template <typename T>
  Blob& put(T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    text_.append(bytes, sizeof value);
    return *this;
  }
  Blob& u8(std::uint64_t v) { return put(static_cast<std::uint8_t>(v)); }
  Blob& u16(std::uint64_t v) { return put(static_cast<std::uint16_t>(v)); }
  Blob& u32(std::uint64_t v) { return put(static_cast<std::uint32_t>(v)); }
  Blob& u64(std::uint64_t v) { return put(v); }
  Blob& text(std::string_view v) {
    text_ += v;
    return *this;
  }
  Blob& zeros(std::size_t count) {
    text_.append(count, '\0');
    return *this;
  }
  Blob& align8() { return zeros((8 - text_.size() % 8) % 8); }
  std::size_t size() const { return text_.size(); }
  const std::string& bytes() const { return text_; }
  std::string& bytes() { return text_; }

 private:
  std::string text_;
};

// An HDF5 file: tiny::Hdf5().dataset("layers/dense/vars/0", {1, 2}).group("vars", "name").bytes().
class Hdf5 {
 public:
  // float32 of shape (values.size(),). Groups on the way are made.
  Hdf5& dataset(const std::string& path, std::vector<float> values) {
    node(path)->values = std::move(values);
    node(path)->is_dataset = true;
    return *this;
  }
  // An (empty) group, with attribute `name` when that is not empty.
  Hdf5& group(const std::string& path, const std::string& name = {}) {
    node(path)->name = name;
    return *this;
  }

  std::string bytes() const {
    Blob file;
    file.zeros(kSuperblock);
    const std::uint64_t root = write(root_, file);
    Blob head;
    head.text("\x89HDF\r\n\x1a\n").zeros(5).u8(8).u8(8).u8(0).u16(kLeafK).u16(kInternalK).u32(0);
    head.u64(0).u64(kNowhere).u64(file.size()).u64(kNowhere).u64(0).u64(root).u32(0).u32(0).zeros(16);
    file.bytes().replace(0, kSuperblock, head.bytes());
    return file.bytes();
  }

 private:
  static constexpr std::size_t kSuperblock = 96;
  static constexpr std::size_t kLeafK = 4;
  static constexpr std::size_t kInternalK = 16;
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

  struct Node {
    bool is_dataset = false;
    std::vector<float> values;
    std::string name;
    std::map<std::string, Node> children;
  };

  Node* node(std::string_view path) {
    Node* at = &root_;
    while (!path.empty()) {
      const auto slash = path.find('/');
      at = &at->children[std::string(path.substr(0, slash))];
      path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
    }
    return at;
  }

  static void message(Blob& header, std::uint16_t type, Blob data) {
    data.align8();
    header.u16(type).u16(data.size()).u32(0).text(data.bytes());
  }

  static std::uint64_t object(Blob& file, std::uint16_t messages, const Blob& header) {
    file.align8();
    const std::uint64_t at = file.size();
    file.u8(1).u8(0).u16(messages).u32(1).u32(header.size()).u32(0).text(header.bytes());
    return at;
  }

  // Returns where the object header of the node was written.
  static std::uint64_t write(const Node& node, Blob& file) {
    return node.is_dataset ? write_dataset(node, file) : write_group(node, file);
  }

  static std::uint64_t write_dataset(const Node& node, Blob& file) {
    file.align8();
    const std::uint64_t data = node.values.empty() ? kNowhere : file.size();
    for (const float value : node.values) file.put(value);
    Blob header;
    message(header, 1, Blob().u8(1).u8(1).zeros(6).u64(node.values.size()));
    message(header, 3, Blob().u32(0x001f2011).u32(4).u16(0).u16(32).u8(23).u8(8).u8(0).u8(23).u32(127));
    message(header, 5, Blob().u8(2).u8(2).u8(2).u8(0));
    message(header, 8, Blob().u8(3).u8(1).u64(data).u64(4 * node.values.size()));
    return object(file, 4, header);
  }

  static std::uint64_t write_group(const Node& node, Blob& file) {
    std::vector<std::uint64_t> headers;
    for (const auto& [name, child] : node.children) headers.push_back(write(child, file));
    std::vector<std::uint64_t> names;
    Blob heap;
    heap.zeros(8);
    for (const auto& [name, child] : node.children) {
      names.push_back(heap.size());
      heap.text(name).u8(0).align8();
    }
    file.align8();
    const std::uint64_t heap_at = file.size();
    file.text("HEAP").u32(0).u64(heap.size()).u64(1).u64(heap_at + 32).text(heap.bytes());
    const std::uint64_t tree_at = write_tree(names, headers, file);
    Blob header;
    message(header, 0x11, Blob().u64(tree_at).u64(heap_at));
    if (node.name.empty()) return object(file, 1, header);
    Blob attribute;
    attribute.u8(1).u8(0).u16(5).u16(8).u16(8).text("name").zeros(4);
    attribute.u32(0x13).u32(node.name.size() + 1).u8(1).zeros(7).text(node.name).u8(0);
    message(header, 0x0c, attribute);
    return object(file, 2, header);
  }

  // The B-tree of a group and its symbol table nodes, of up to 2 * kLeafK names each.
  static std::uint64_t write_tree(const std::vector<std::uint64_t>& names, const std::vector<std::uint64_t>& headers,
                                  Blob& file) {
    Blob tree;
    std::uint64_t nodes = 0;
    tree.u64(0);
    for (std::size_t i = 0; i < names.size(); i += 2 * kLeafK, ++nodes) {
      const std::size_t end = std::min(names.size(), i + 2 * kLeafK);
      const std::uint64_t at = file.size();
      file.text("SNOD").u8(1).u8(0).u16(end - i);
      for (std::size_t k = i; k < end; ++k) file.u64(names[k]).u64(headers[k]).zeros(24);
      file.zeros((i + 2 * kLeafK - end) * 40);
      tree.u64(at).u64(names[end - 1]);
    }
    const std::uint64_t at = file.size();
    file.text("TREE").u8(0).u8(0).u16(nodes).u64(kNowhere).u64(kNowhere).text(tree.bytes());
    file.zeros((2 * kInternalK - nodes) * 16);
    return at;
  }

  Node root_;
};

}  // namespace shardwise::tiny
