// Catalog: what a checkpoint holds and where its bytes lie. Plain data; knows no meshes, reads nothing.
//
// Readers (src/checkpoint/) make one; the planner and the loader use nothing else of a checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "shardwise/bytes.h"
#include "shardwise/dtype.h"
#include "shardwise/shape.h"

namespace shardwise {

// One stream of bytes that extents refer to. Identity is kept so that a file that changes between planning and
// loading is noticed.
struct CatalogFile {
  std::string path;          // as opened
  std::uint64_t size = 0;    // bytes of the stream that extents address
  std::uint64_t device = 0;  // st_dev, st_ino, st_mtim of the file on disk; all 0 when there is none (memory)
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;

  // A stream that is a raw-deflate member of a zip archive: extents address the inflated bytes, `member` says where
  // the deflated ones lie in the file. Empty when extents address the file itself.
  ByteRange member;
  bool is_deflated() const { return !member.empty(); }
};

// One step that a stored chunk went through when it was written; undone last to first.
struct Filter {
  enum class Kind : std::uint8_t { kDeflate, kShuffle, kFletcher32 };
  Kind kind = Kind::kDeflate;
  std::uint32_t element_size = 0;  // kShuffle: bytes per element
  friend bool operator==(const Filter&, const Filter&) = default;
};

// How the bytes of some extents are encoded: `filters` in the order of writing, and the dims of the stored block.
struct Encoding {
  std::vector<Filter> filters;
  Shape block_shape;  // elements stored, also outside the tensor for edge chunks
  friend bool operator==(const Encoding&, const Encoding&) = default;
};

// A part of one tensor and where it is stored.
struct Extent {
  static constexpr std::uint32_t kNoFile = 0xffffffffu;  // never written: holds the tensor's fill value
  static constexpr std::uint32_t kRaw = 0xffffffffu;     // row-major elements of `box`, nothing to decode

  std::uint32_t file = 0;             // index into Catalog::files, or kNoFile
  std::uint32_t encoding = kRaw;      // index into Catalog::encodings, or kRaw
  std::uint32_t skipped_filters = 0;  // bit i: filter i was not applied to this block (HDF5 filter mask)
  ByteRange range;                    // stored bytes in that file
  Box box;                            // elements of the tensor it provides
};

// One stored tensor. Its extents are disjoint and cover it whole; a tensor without elements has none.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<Extent> extents;
  std::string fill;  // bytes of one element of the fill value; empty = zeros

  // Bytes of the tensor when loaded dense; the catalog's reader has checked the product.
  std::uint64_t bytes() const;
};

// Immutable once its reader returned it.
struct Catalog {
  std::string format;  // "safetensors", "safetensors-index", "keras-h5", "keras-json", "keras", "hdf5"
  std::string path;    // what was opened
  std::vector<CatalogFile> files;
  std::vector<Encoding> encodings;
  std::vector<TensorInfo> tensors;  // in the order of their first byte on storage, files in order
  std::map<std::string, std::string> metadata;
  std::vector<std::string> warnings;  // legal but worth saying (total_size wrong, tensors outside the index)

  // The tensor of that name, or nullptr. Linear in the number of tensors; build an index for many look-ups.
  const TensorInfo* find(std::string_view name) const;
  std::uint64_t total_bytes() const;
};

// Checks what every reader promises: unique names without NUL, file and encoding indices in range, ranges inside their
// files, boxes inside shapes, disjoint and covering, raw extents exactly as long as their box. Errors: DATA_LOSS.
Status validate(const Catalog& catalog);

}  // namespace shardwise
