#include "checkpoint/hdf5/dataset.h"

#include <algorithm>

#include "base/checked.h"
#include "base/format.h"
#include "checkpoint/hdf5/dataspace.h"
#include "checkpoint/hdf5/pipeline.h"

namespace shardwise::hdf5 {
using shardwise::to_string;  // hdf5::to_string hides it

namespace {

// Keras's guard: more than this, and more than 1000 times what is stored, is no honest file.
constexpr std::uint64_t kBombFloor = 4_GiB;
constexpr std::uint64_t kBombExpansion = 1000;
constexpr std::uint64_t kMaxChunkBytes = 0xffffffff;

Status missing(MessageType type) { return data_loss("a dataset without {} (corrupt file?)", to_string(type)); }

// A message that a dataset must have, as a cursor over it.
Result<Cursor> require(const ObjectHeader& header, const FileFormat& format, MessageType type) {
  SHARDWISE_ASSIGN_OR_RETURN(const Message* message, header.find(type));
  if (message == nullptr) return missing(type);
  return message->cursor(format);
}

// Opaque elements of two bytes are bfloat16 where Keras says so in an attribute; nothing else may carry it.
Result<DType> element_type(const Datatype& type, const Attributes& attributes) {
  const auto found = attributes.text.find("dtype");
  const bool says_bfloat16 = found != attributes.text.end() &&
                             found->second == std::vector<std::string>{std::string(to_string(DType::kBfloat16))};
  if (type.kind == Datatype::Kind::kOpaque) {
    if (says_bfloat16 && type.size == 2) return DType::kBfloat16;
    if (says_bfloat16) return data_loss("attribute dtype = bfloat16 on opaque elements of {} bytes, not 2", type.size);
    if (!attributes.unreadable.empty()) return unimplemented("opaque elements, and {}", attributes.unreadable);
    return unimplemented("opaque elements of {} bytes without an attribute dtype = bfloat16", type.size);
  }
  if (type.kind == Datatype::Kind::kUnsupported) return unimplemented("elements of type {}", type.description);
  if (type.kind != Datatype::Kind::kNumber) return unimplemented("elements of type string");
  if (says_bfloat16 && type.number != DType::kBfloat16) {
    return data_loss("attribute dtype = bfloat16 on elements of type {}", to_string(type.number));
  }
  return type.number;
}

// "12.00 GB": as Keras writes sizes.
std::string keras_size(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"B", "KB", "MB", "GB", "TB", "PB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; unit + 1 < kUnits.size() && value >= 1024; ++unit) value /= 1024;
  return format("{:.2f} {}", value, kUnits[unit]);
}

Status check_bomb(const std::string& path, std::uint64_t declared, std::uint64_t stored) {
  const bool is_expanded =
      declared / kBombExpansion > stored || (declared / kBombExpansion == stored && declared % kBombExpansion != 0);
  if (declared <= kBombFloor || !is_expanded) return {};
  return data_loss(
      "Not allowed: H5 dataset '{}' declares {} but only {} are stored on disk; refusing to load a potential "
      "decompression/shape bomb.",
      printable(path), keras_size(declared), keras_size(stored));
}

// A chunk has the rank and the elements of its dataset, and at most 4 GiB - 1.
Status check_chunk_shape(const Layout& layout, const TensorInfo& tensor, std::uint64_t element_size) {
  if (layout.chunk_dims.size() != tensor.shape.size()) {
    return data_loss("chunks of rank {} in a dataset of rank {}", layout.chunk_dims.size(), tensor.shape.size());
  }
  if (layout.element_size != element_size) {
    return data_loss("chunks of elements of {} bytes, the datatype has {}", layout.element_size, element_size);
  }
  std::uint64_t bytes = element_size;
  for (const std::uint32_t extent : layout.chunk_dims) {
    bytes = checked_mul<std::uint64_t>(bytes, extent).value_or(kUndefined);
    if (bytes > kMaxChunkBytes) return data_loss("chunks of more than {} bytes", kMaxChunkBytes);
  }
  return {};
}

std::uint64_t extent_cost(std::size_t rank) { return sizeof(Extent) + 2 * (rank * sizeof(std::int64_t) + 16); }

}  // namespace

std::uint32_t EncodingTable::add(const std::vector<Filter>& filters, const Shape& block_shape) {
  Key key;
  for (const Filter& filter : filters)
    key.first.emplace_back(static_cast<std::uint8_t>(filter.kind), filter.element_size);
  key.second = block_shape;
  const auto [entry, is_new] = indices_.emplace(std::move(key), static_cast<std::uint32_t>(encodings_.size()));
  if (is_new) encodings_.push_back({filters, block_shape});
  return entry->second;
}

bool is_dataset(const ObjectHeader& header) {
  return header.has(MessageType::kDataspace) || header.has(MessageType::kLayout);
}

Result<DatasetReader::Dataset> DatasetReader::read(const std::string& path, const ObjectHeader& header) {
  const FileFormat& format = metadata_.format();
  SHARDWISE_ASSIGN_OR_RETURN(Attributes attributes, read_attributes(metadata_, heaps_, header));
  SHARDWISE_ASSIGN_OR_RETURN(Cursor type_cursor, require(header, format, MessageType::kDatatype));
  SHARDWISE_ASSIGN_OR_RETURN(const Datatype type, read_datatype(type_cursor));
  SHARDWISE_ASSIGN_OR_RETURN(Cursor space_cursor, require(header, format, MessageType::kDataspace));
  SHARDWISE_ASSIGN_OR_RETURN(Dataspace space, read_dataspace(space_cursor));
  if (header.has(MessageType::kExternalFiles)) return unimplemented("Not allowed: H5 file with external Dataset");
  if (space.kind == Dataspace::Kind::kNull)
    return unimplemented("a null dataspace: there is no value, not even an empty one");

  Dataset dataset;
  TensorInfo& tensor = dataset.tensor;
  tensor.name = path;
  SHARDWISE_ASSIGN_OR_RETURN(tensor.dtype, element_type(type, attributes));
  tensor.shape = std::move(space.shape);
  dataset.attributes = std::move(attributes.text);
  SHARDWISE_ASSIGN_OR_RETURN(const Storage storage, read_storage(header, tensor));
  tensor.fill = storage.fill.bytes;
  SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t stored, storage.layout.kind == Layout::Kind::kChunked
                                                             ? add_chunk_extents(storage, tensor)
                                                             : add_whole_extent(storage, tensor));
  SHARDWISE_RETURN_IF_ERROR(check_bomb(path, storage.bytes, stored));
  return dataset;
}

Result<DatasetReader::Storage> DatasetReader::read_storage(const ObjectHeader& header, const TensorInfo& tensor) {
  Storage storage;
  storage.element_size = byte_width(tensor.dtype);
  const auto bytes = byte_count(tensor.shape, tensor.dtype);
  if (!bytes.ok()) return data_loss("{} (corrupt file?)", bytes.status().message());
  storage.bytes = *bytes;
  SHARDWISE_ASSIGN_OR_RETURN(Cursor cursor, require(header, metadata_.format(), MessageType::kLayout));
  SHARDWISE_ASSIGN_OR_RETURN(storage.layout, read_layout(cursor));
  SHARDWISE_ASSIGN_OR_RETURN(storage.fill,
                             read_fill(header, metadata_.format(), static_cast<std::uint32_t>(storage.element_size)));
  SHARDWISE_ASSIGN_OR_RETURN(const Message* pipeline, header.find(MessageType::kFilters));
  if (pipeline != nullptr) {
    Cursor filters = pipeline->cursor(metadata_.format());
    SHARDWISE_ASSIGN_OR_RETURN(storage.filters, read_pipeline(filters));
  }
  if (storage.layout.kind != Layout::Kind::kChunked && !storage.filters.empty()) {
    return unimplemented("filters on a dataset that is not chunked");
  }
  return storage;
}

// A compact or contiguous dataset. Returns the bytes it has in the file.
Result<std::uint64_t> DatasetReader::add_whole_extent(const Storage& storage, TensorInfo& tensor) {
  const Layout& layout = storage.layout;
  if (layout.size != kUndefined && layout.size != storage.bytes) {
    return data_loss("shape {} of {} needs {} bytes, its layout says {} (corrupt file?)", to_string(tensor.shape),
                     to_string(tensor.dtype), storage.bytes, layout.size);
  }
  if (storage.bytes == 0) return std::uint64_t{0};
  if (layout.address == kUndefined) {
    SHARDWISE_RETURN_IF_ERROR(add_fill_extent(storage.fill, Box::whole(tensor.shape), tensor));
    return std::uint64_t{0};
  }
  const std::uint64_t end = metadata_.format().end;
  if (layout.address > end || storage.bytes > end - layout.address) {
    return data_loss("its {} bytes from byte {} on reach beyond the end at {} (truncated, or a corrupt address?)",
                     storage.bytes, layout.address, end);
  }
  SHARDWISE_RETURN_IF_ERROR(metadata_.charge(extent_cost(tensor.shape.size())));
  Extent extent;
  extent.range = {layout.address, layout.address + storage.bytes};
  extent.box = Box::whole(tensor.shape);
  tensor.extents.push_back(std::move(extent));
  return storage.bytes;
}

Status DatasetReader::add_fill_extent(const FillValue& fill, Box box, TensorInfo& tensor) {
  if (fill.is_undefined) {
    return data_loss("elements {} were never written, and the file gives them no fill value (an unfinished save?)",
                     to_string(box));
  }
  SHARDWISE_RETURN_IF_ERROR(metadata_.charge(extent_cost(box.rank())));
  Extent extent;
  extent.file = Extent::kNoFile;
  extent.box = std::move(box);
  tensor.extents.push_back(std::move(extent));
  return {};
}

Status DatasetReader::add_chunk(const Storage& storage, const StoredChunk& chunk, Box box, TensorInfo& tensor) {
  const Shape block(storage.layout.chunk_dims.begin(), storage.layout.chunk_dims.end());
  std::uint64_t block_bytes = storage.element_size;
  for (const std::int64_t extent : block) block_bytes *= static_cast<std::uint64_t>(extent);
  const std::size_t count = storage.filters.size();
  if (count < 32 && chunk.skipped_filters >> count != 0) {
    return data_loss("chunk {}: filter mask {:#x} names more than its {} filters", to_string(box),
                     chunk.skipped_filters, count);
  }
  std::uint64_t least = block_bytes;
  bool is_deflated = false;
  for (std::size_t i = 0; i < count; ++i) {
    if ((chunk.skipped_filters >> i & 1) != 0) continue;
    if (storage.filters[i].kind == Filter::Kind::kFletcher32) least += 4;
    if (storage.filters[i].kind == Filter::Kind::kDeflate) is_deflated = true;
  }
  // Deflate makes data that it cannot compress longer by a thousandth at most.
  const std::uint64_t most = least + least / 64 + 1024;
  const std::uint64_t stored = chunk.range.size();
  if (is_deflated ? stored == 0 || stored > most : stored != least) {
    return data_loss("chunk {}: {} bytes are stored for {} (corrupt file?)", to_string(box), stored, least);
  }
  SHARDWISE_RETURN_IF_ERROR(metadata_.charge(extent_cost(box.rank())));
  Extent extent;
  if (count != 0 || box.extent != block) extent.encoding = encodings_.add(storage.filters, block);
  extent.skipped_filters = chunk.skipped_filters;
  extent.range = chunk.range;
  extent.box = std::move(box);
  tensor.extents.push_back(std::move(extent));
  return {};
}

// A chunked dataset: its chunks, and fill extents between them. Returns the bytes it has in the file.
Result<std::uint64_t> DatasetReader::add_chunk_extents(const Storage& storage, TensorInfo& tensor) {
  const Layout& layout = storage.layout;
  SHARDWISE_RETURN_IF_ERROR(check_chunk_shape(layout, tensor, storage.element_size));
  if (storage.bytes == 0) return std::uint64_t{0};

  const ChunkGrid grid(tensor.shape, layout.chunk_dims);
  std::vector<StoredChunk> chunks;
  if (layout.address != kUndefined) {
    SHARDWISE_ASSIGN_OR_RETURN(chunks, read_chunks(metadata_, layout, grid, chunks_left_));
  }
  chunks_left_ -= chunks.size();
  std::uint64_t next = 0;
  std::uint64_t stored = 0;
  std::vector<Box> gap;
  const auto fill_up_to = [&](std::uint64_t cell) -> Status {
    gap.clear();
    grid.append_boxes(next, cell, gap);
    for (Box& box : gap) SHARDWISE_RETURN_IF_ERROR(add_fill_extent(storage.fill, std::move(box), tensor));
    return {};
  };
  for (const StoredChunk& chunk : chunks) {
    SHARDWISE_RETURN_IF_ERROR(fill_up_to(chunk.cell));
    SHARDWISE_RETURN_IF_ERROR(add_chunk(storage, chunk, grid.box(chunk.cell), tensor));
    next = chunk.cell + 1;
    stored += chunk.range.size();
  }
  SHARDWISE_RETURN_IF_ERROR(fill_up_to(grid.cells()));
  return stored;
}

}  // namespace shardwise::hdf5
