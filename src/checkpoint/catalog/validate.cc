#include "base/checked.h"
#include "base/format.h"
#include "checkpoint/catalog/tensors.h"
#include "checkpoint/catalog/tiling.h"
#include "shardwise/catalog.h"

namespace shardwise {
namespace {

Status check_file(const CatalogFile& file) {
  if (file.member.begin > file.member.end) {
    return data_loss("{}: the archive member's range runs backwards, from {} to {}", file.path, file.member.begin,
                     file.member.end);
  }
  return {};
}

Status check_range(const Catalog& catalog, const Extent& extent) {
  if (extent.file == Extent::kNoFile) {
    return extent.range.empty() ? Status() : data_loss("it has bytes {} of no file", to_string(extent.range));
  }
  if (extent.file >= catalog.files.size()) {
    return data_loss("it lies in file {} of {}", extent.file, catalog.files.size());
  }
  const CatalogFile& file = catalog.files[extent.file];
  if (extent.range.begin > extent.range.end || extent.range.end > file.size) {
    return data_loss("its bytes {} leave the {} bytes of {} (truncated?)", to_string(extent.range), file.size,
                     file.path);
  }
  return {};
}

Status check_raw_size(const TensorInfo& tensor, const Extent& extent) {
  const std::uint64_t bits = extent.box.elements() * static_cast<std::uint64_t>(bit_width(tensor.dtype));
  if (bits % 8 == 0 && bits / 8 == extent.range.size()) return {};
  return data_loss("its {} elements of {} take {} bits but bytes {} hold {} bytes", extent.box.elements(),
                   to_string(tensor.dtype), bits, to_string(extent.range), extent.range.size());
}

Status check_encoding(const Catalog& catalog, const Extent& extent) {
  if (extent.encoding >= catalog.encodings.size()) {
    return data_loss("it has encoding {} of {}", extent.encoding, catalog.encodings.size());
  }
  const Shape& block = catalog.encodings[extent.encoding].block_shape;
  if (fits(Box{std::vector<std::int64_t>(extent.box.rank(), 0), extent.box.extent}, block)) return {};
  return data_loss("it does not fit its stored block of shape {}", to_string(block));
}

Status check_extent(const Catalog& catalog, const TensorInfo& tensor, const Extent& extent) {
  if (!fits(extent.box, tensor.shape)) return data_loss("it leaves the shape {}", to_string(tensor.shape));
  if (extent.box.elements() == 0) return data_loss("it has no elements");
  SHARDWISE_RETURN_IF_ERROR(check_range(catalog, extent));
  if (extent.file == Extent::kNoFile) return {};
  return extent.encoding == Extent::kRaw ? check_raw_size(tensor, extent) : check_encoding(catalog, extent);
}

Status check_tensor(const Catalog& catalog, const TensorInfo& tensor) {
  const auto bytes = byte_count(tensor.shape, tensor.dtype);
  if (!bytes.ok()) return data_loss("{}", bytes.status().message());
  if (!tensor.fill.empty() && (!is_byte_sized(tensor.dtype) || tensor.fill.size() != byte_width(tensor.dtype))) {
    return data_loss("its fill value has {} bytes, not one element of {}", tensor.fill.size(), to_string(tensor.dtype));
  }
  for (const Extent& extent : tensor.extents) {
    const Status status = check_extent(catalog, tensor, extent);
    if (!status.ok()) return status.with_context(format("block {}", to_string(extent.box)));
  }
  if (*bytes == 0 && tensor.extents.empty()) return {};
  if (tensor.extents.size() == 1 && tensor.extents[0].box.extent == tensor.shape) return {};
  std::vector<const Box*> boxes;
  boxes.reserve(tensor.extents.size());
  for (const Extent& extent : tensor.extents) boxes.push_back(&extent.box);
  return check_tiling(tensor.shape, boxes);
}

}  // namespace

Status validate(const Catalog& catalog) {
  for (const CatalogFile& file : catalog.files) SHARDWISE_RETURN_IF_ERROR(check_file(file));
  for (const TensorInfo& tensor : catalog.tensors) {
    const Status status = check_tensor(catalog, tensor);
    if (!status.ok()) return status.with_context(format("{}: tensor '{}'", catalog.path, printable(tensor.name)));
  }
  return check_names(catalog.tensors).with_context(catalog.path);
}

}  // namespace shardwise
