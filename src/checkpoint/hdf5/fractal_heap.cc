#include "checkpoint/hdf5/fractal_heap.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "checkpoint/hdf5/checksum.h"

namespace shardwise::hdf5 {
namespace {

constexpr std::string_view kWhat = "fractal heap";
constexpr std::string_view kDirectWhat = "direct block of a fractal heap";
constexpr std::string_view kIndirectWhat = "indirect block of a fractal heap";
constexpr std::uint64_t kMaxWidth = 1024;
constexpr int kMaxNesting = 32;

// Type of an object, from the first byte of its id.
constexpr unsigned kManaged = 0;
constexpr unsigned kHuge = 1;
constexpr unsigned kTiny = 2;

int log2(std::uint64_t power) { return static_cast<int>(std::bit_width(power)) - 1; }
// A number of rows that was checked not to be negative.
std::uint64_t row_count(int rows) { return static_cast<std::uint64_t>(rows); }
std::uint32_t bytes_for_bits(int bits) { return static_cast<std::uint32_t>((bits + 7) / 8); }

std::uint64_t row_block_size(std::uint64_t first_block, std::uint64_t row) {
  return row == 0 ? first_block : first_block << (row - 1);
}

}  // namespace

// All sizes are powers of two, as the doubling of rows needs, and fit the address space of the heap.
Status FractalHeap::check_shape(const Shape& shape, std::uint16_t max_bits, const Cursor& cursor) {
  const bool are_powers = std::has_single_bit(shape.width) && std::has_single_bit(shape.first_block) &&
                          std::has_single_bit(shape.max_direct);
  if (!are_powers || shape.width > kMaxWidth || shape.first_block > shape.max_direct || max_bits > 63 ||
      log2(shape.max_direct) > max_bits || log2(shape.first_block) + log2(shape.width) > max_bits ||
      log2(shape.first_block) + log2(shape.width) > log2(shape.max_direct) + 1) {
    return cursor.error(format("rows of {} blocks of {} to {} bytes in {} bits", shape.width, shape.first_block,
                               shape.max_direct, max_bits));
  }
  const auto most_rows = row_count(max_bits - log2(shape.first_block) - log2(shape.width) + 1);
  if (shape.root_rows > most_rows)
    return cursor.error(format("a root of {} rows, over {}", shape.root_rows, most_rows));
  if (shape.max_object == 0) return cursor.error("objects of 0 bytes");
  return {};
}

Result<FractalHeap::Shape> FractalHeap::read_shape(Metadata& metadata, std::uint64_t offset) {
  const FileFormat& format = metadata.format();
  const std::uint64_t lengths = 12;
  const std::uint64_t size = 26 + lengths * format.length_size + 3 * std::uint64_t{format.offset_size};
  SHARDWISE_ASSIGN_OR_RETURN(const Record record, metadata.load(offset, size, kWhat));
  Cursor cursor = record.cursor(format, kWhat);
  if (!cursor.signature("FRHP")) return cursor.error("its signature is missing");
  const std::uint8_t version = cursor.u8();
  Shape shape;
  shape.id_size = cursor.u16();
  const std::uint16_t filters_size = cursor.u16();
  shape.has_checksums = (cursor.u8() & 0x02) != 0;
  shape.max_object = cursor.u32();
  cursor.skip(format.length_size + format.offset_size);  // huge objects
  cursor.skip(format.length_size + format.offset_size);  // free space
  cursor.skip(8 * std::uint64_t{format.length_size});    // statistics
  shape.width = cursor.u16();
  shape.first_block = cursor.length();
  shape.max_direct = cursor.length();
  const std::uint16_t max_bits = cursor.u16();
  cursor.skip(2);  // rows that a root starts with
  shape.root = cursor.address();
  shape.root_rows = cursor.u16();
  cursor.skip(4);
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version != 0) return cursor.error(shardwise::format("version {}", version));
  if (filters_size != 0) return unimplemented("{} at byte {}: filtered blocks", kWhat, offset);
  SHARDWISE_RETURN_IF_ERROR(check_checksum(record.bytes, offset, kWhat));
  SHARDWISE_RETURN_IF_ERROR(check_shape(shape, max_bits, cursor));
  shape.offset_bytes = bytes_for_bits(max_bits);
  shape.length_bytes =
      std::min(bytes_for_bits(log2(shape.max_direct)), static_cast<std::uint32_t>(log2(shape.max_object) / 8 + 1));
  shape.direct_rows = row_count(log2(shape.max_direct) - log2(shape.first_block) + 2);
  if (shape.id_size < 1 + shape.offset_bytes + shape.length_bytes) {
    return cursor.error(shardwise::format("ids of {} bytes", shape.id_size));
  }
  return shape;
}

Result<FractalHeap> FractalHeap::read(Metadata& metadata, std::uint64_t offset) {
  SHARDWISE_ASSIGN_OR_RETURN(const Shape shape, read_shape(metadata, offset));
  return FractalHeap(metadata, offset, shape);
}

Result<const std::vector<std::uint64_t>*> FractalHeap::indirect_block(std::uint64_t address, std::uint64_t begin,
                                                                      std::uint64_t rows) {
  if (const auto found = indirect_blocks_.find(address); found != indirect_blocks_.end()) {
    if (found->second.size() != rows * shape_.width)
      return data_loss("{} at byte {}: used twice", kIndirectWhat, address);
    return &found->second;
  }
  const FileFormat& format = metadata_->format();
  const std::uint64_t entries = rows * shape_.width;
  const std::uint64_t size = 9 + format.offset_size + shape_.offset_bytes + entries * format.offset_size;
  SHARDWISE_ASSIGN_OR_RETURN(const Record record, metadata_->load(address, size, kIndirectWhat));
  Cursor cursor = record.cursor(format, kIndirectWhat);
  if (!cursor.signature("FHIB")) return cursor.error("its signature is missing");
  SHARDWISE_RETURN_IF_ERROR(check_checksum(record.bytes, address, kIndirectWhat));
  const std::uint8_t version = cursor.u8();
  const std::uint64_t heap = cursor.address();
  const std::uint64_t stored_begin = cursor.uint(shape_.offset_bytes);
  if (version != 0 || heap != offset_ || stored_begin != begin) return cursor.error("it belongs elsewhere");
  SHARDWISE_RETURN_IF_ERROR(metadata_->charge(entries * sizeof(std::uint64_t)));
  std::vector<std::uint64_t> children;
  for (std::uint64_t i = 0; i < entries; ++i) children.push_back(cursor.address());
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  return &indirect_blocks_.emplace(address, std::move(children)).first->second;
}

// The direct block that holds byte `offset` of the heap.
Result<FractalHeap::Block> FractalHeap::find_block(std::uint64_t offset) {
  Block block{shape_.root, 0, shape_.first_block};
  if (shape_.root_rows == 0) return block;
  std::uint64_t rows = shape_.root_rows;
  for (int nesting = 0; nesting < kMaxNesting; ++nesting) {
    const std::uint64_t relative = offset - block.begin;
    const std::uint64_t first_row = shape_.first_block * shape_.width;
    const auto row = static_cast<std::uint64_t>(std::bit_width(relative / first_row));
    if (row >= rows) return data_loss("{} at byte {}: no block has its byte {}", kWhat, offset_, offset);
    const std::uint64_t row_begin = row == 0 ? 0 : first_row << (row - 1);
    SHARDWISE_ASSIGN_OR_RETURN(const std::vector<std::uint64_t>* children,
                               indirect_block(block.address, block.begin, rows));
    block.size = row_block_size(shape_.first_block, row);
    const std::uint64_t column = (relative - row_begin) / block.size;
    block.begin += row_begin + column * block.size;
    block.address = (*children)[row * shape_.width + column];
    if (block.address == kUndefined)
      return data_loss("{} at byte {}: no block has its byte {}", kWhat, offset_, offset);
    if (row < shape_.direct_rows) return block;
    rows = row_count(log2(block.size) - log2(first_row) + 1);
  }
  return data_loss("{} at byte {}: blocks nested more than {} deep", kWhat, offset_, kMaxNesting);
}

Status FractalHeap::check_direct_block(const Block& block) {
  if (checked_.contains(block.address)) return {};
  SHARDWISE_ASSIGN_OR_RETURN(Record record, metadata_->load(block.address, block.size, kDirectWhat));
  Cursor cursor = record.cursor(metadata_->format(), kDirectWhat);
  if (!cursor.signature("FHDB")) return cursor.error("its signature is missing");
  const std::uint8_t version = cursor.u8();
  const std::uint64_t heap = cursor.address();
  const std::uint64_t begin = cursor.uint(shape_.offset_bytes);
  const std::uint64_t checksum_at = cursor.consumed();
  const std::uint32_t stored = shape_.has_checksums ? cursor.u32() : 0;
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (version != 0 || heap != offset_ || begin != block.begin) return cursor.error("it belongs elsewhere");
  if (shape_.has_checksums) {
    // The checksum is that of the block with zeros in its own place.
    std::fill_n(record.bytes.begin() + static_cast<std::ptrdiff_t>(checksum_at), 4, std::byte{0});
    if (lookup3(record.bytes) != stored) return cursor.error("its checksum differs");
  }
  SHARDWISE_RETURN_IF_ERROR(metadata_->charge(48));
  checked_.insert(block.address);
  return {};
}

Result<Record> FractalHeap::object(std::span<const std::byte> id) {
  Cursor cursor(id, offset_, metadata_->format(), kWhat);
  const std::uint8_t head = cursor.u8();
  if (head >> 6 != 0) return cursor.error(format("an id of version {}", head >> 6));
  const unsigned type = head >> 4 & 3;
  if (type == kHuge) return unimplemented("{} at byte {}: a huge object", kWhat, offset_);
  if (type == kTiny) {
    const auto bytes = cursor.take((head & 0x0fu) + 1u);
    SHARDWISE_RETURN_IF_ERROR(cursor.status());
    return Record{offset_, {bytes.begin(), bytes.end()}};
  }
  if (type != kManaged) return cursor.error("an id of unknown type");
  const std::uint64_t begin = cursor.uint(shape_.offset_bytes);
  const std::uint64_t size = cursor.uint(shape_.length_bytes);
  SHARDWISE_RETURN_IF_ERROR(cursor.status());
  if (shape_.root == kUndefined) return cursor.error("it has an object, but no block");
  SHARDWISE_ASSIGN_OR_RETURN(const Block block, find_block(begin));
  SHARDWISE_RETURN_IF_ERROR(check_direct_block(block));
  if (begin - block.begin > block.size || size > block.size - (begin - block.begin)) {
    return cursor.error(format("an object of {} bytes at its byte {} leaves its block", size, begin));
  }
  return metadata_->load(block.address + (begin - block.begin), size, kWhat);
}

}  // namespace shardwise::hdf5
