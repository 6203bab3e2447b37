// Little-endian fields of an HDF5 record, read with bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "shardwise/status.h"

namespace shardwise::hdf5 {

// "Undefined address": all ones in the file, whatever the width.
inline constexpr std::uint64_t kUndefined = ~std::uint64_t{0};

// What the superblock says about the rest of the file.
struct FileFormat {
  std::uint32_t offset_size = 8;        // bytes of an address: 2, 4 or 8
  std::uint32_t length_size = 8;        // bytes of a length: 2, 4 or 8
  std::uint64_t base = 0;               // added to every address; where the superblock stands
  std::uint64_t end = 0;                // end of the HDF5 data, in bytes of the file
  std::uint32_t group_leaf_k = 4;       // a symbol table node holds at most 2k entries
  std::uint32_t group_internal_k = 16;  // a node of a group's B-tree has at most 2k children
  std::uint32_t chunk_k = 32;           // the same for the B-trees of chunks
};

// Thread-compatible. Borrows the bytes and the format. A read past the end gives zeros and makes ok() false for good,
// so a record function reads all its fields and asks status() once, before it acts on any of them.
class Cursor {
 public:
  // `offset`: of the first byte in the file, for messages and position(). `what`: a literal such as "object header".
  Cursor(std::span<const std::byte> bytes, std::uint64_t offset, const FileFormat& format, std::string_view what)
      : bytes_(bytes), offset_(offset), format_(&format), what_(what) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(uint(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(uint(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(uint(4)); }
  std::uint64_t u64() { return uint(8); }
  // Unsigned integer of 1 to 8 bytes.
  std::uint64_t uint(std::uint32_t width);
  // An address as a byte of the file (base added), or kUndefined. One that wraps fails the cursor.
  std::uint64_t address();
  std::uint64_t length() { return uint(format_->length_size); }

  std::span<const std::byte> take(std::uint64_t count);
  void skip(std::uint64_t count) { take(count); }
  // Skips to a multiple of `alignment` bytes counted from the record's first byte.
  void align(std::uint64_t alignment);
  // Bytes up to a NUL, which is skipped too. No NUL fails the cursor.
  std::string_view c_string();
  // True, and skipped, when the next four bytes are `signature`.
  bool signature(std::string_view signature);

  std::uint64_t remaining() const { return bytes_.size() - at_; }
  std::uint64_t consumed() const { return at_; }
  std::uint64_t position() const { return offset_ + at_; }
  const FileFormat& file_format() const { return *format_; }
  bool ok() const { return ok_; }
  // Ok, or DATA_LOSS that says what ends early, and where.
  Status status() const;
  // DATA_LOSS: "<what> at byte <offset>: <problem>".
  Status error(std::string_view problem) const;

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t offset_;
  const FileFormat* format_;
  std::string_view what_;
  std::uint64_t at_ = 0;
  bool ok_ = true;
};

// Bytes as text.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace shardwise::hdf5
