// Layout: u64 little-endian length n, n bytes of JSON, then the tensors' bytes without gap or rest.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>

#include "base/format.h"
#include "checkpoint/catalog/readers.h"
#include "checkpoint/catalog/tensors.h"
#include "checkpoint/safetensors/header.h"

namespace shardwise {
namespace {

using safetensors::Header;
using safetensors::HeaderTensor;

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kFormatHeaderLimit = 100'000'000;
static_assert(std::endian::native == std::endian::little, "stored numbers are little-endian");

Result<std::uint64_t> header_length(const File& file, std::uint64_t max_header_bytes) {
  if (file.size() < kLengthBytes) {
    return data_loss("the file has {} bytes, fewer than the 8 of a header length (truncated download?)", file.size());
  }
  std::uint64_t length = 0;
  SHARDWISE_RETURN_IF_ERROR(file.read(0, std::as_writable_bytes(std::span(&length, 1))));
  if (length > max_header_bytes && length > kFormatHeaderLimit) {
    return data_loss("the header length {} is too large: the format's limit is {} (not a safetensors file?)", length,
                     kFormatHeaderLimit);
  }
  if (length > max_header_bytes) {
    return resource_exhausted("the header of {} bytes is above OpenOptions::max_header_bytes, {}", length,
                              max_header_bytes);
  }
  if (length > file.size() - kLengthBytes) {
    return data_loss("the header takes bytes [8, {}) but the file ends at {} (truncated download?)",
                     kLengthBytes + length, file.size());
  }
  return length;
}

Result<Header> read_header(const File& file, std::uint64_t length, const OpenOptions& options) {
  std::string json(length, '\0');
  SHARDWISE_RETURN_IF_ERROR(file.read(kLengthBytes, std::as_writable_bytes(std::span(json.data(), json.size()))));
  auto header = safetensors::parse_header(json, options.max_tensors);
  if (!header.ok()) return header.status().with_context("header");
  return header;
}

Status check_size(const HeaderTensor& tensor) {
  const auto bytes = byte_count(tensor.shape, tensor.dtype);
  if (!bytes.ok()) return data_loss("tensor '{}': {}", printable(tensor.name), bytes.status().message());
  if (tensor.end < tensor.begin) {
    return data_loss("tensor '{}': data_offsets [{}, {}] run backwards", printable(tensor.name), tensor.begin,
                     tensor.end);
  }
  if (tensor.end - tensor.begin == *bytes) return {};
  return data_loss("tensor '{}': shape {} of {} takes {} bytes but data_offsets {} hold {}", printable(tensor.name),
                   to_string(tensor.shape), to_string(tensor.dtype), *bytes,
                   to_string(ByteRange{tensor.begin, tensor.end}), tensor.end - tensor.begin);
}

// `tensors` sorted by offset, sizes checked: each begins where its predecessor ends, from 0 to `data_bytes`.
Status check_gapless(const std::vector<HeaderTensor>& tensors, std::uint64_t data_bytes, std::uint64_t file_bytes) {
  ByteRange before{0, 0};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const HeaderTensor& tensor = tensors[i];
    const ByteRange range{tensor.begin, tensor.end};
    if (range.begin > before.end) {
      return data_loss("tensor '{}' has data bytes {}: nothing owns the bytes {} before it (hole)",
                       printable(tensor.name), to_string(range), to_string(ByteRange{before.end, range.begin}));
    }
    if (range.begin < before.end) {
      return data_loss("tensor '{}' has data bytes {}: they overlap tensor '{}' with {}", printable(tensor.name),
                       to_string(range), printable(tensors[i - 1].name), to_string(before));
    }
    before = range;
  }
  if (before.end == data_bytes) return {};
  if (before.end < data_bytes) {
    return data_loss("{} bytes follow the last tensor: the data ends at {} of {} (file of {} bytes; appended junk?)",
                     data_bytes - before.end, before.end, data_bytes, file_bytes);
  }
  const auto cut = std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.end > data_bytes; });
  return data_loss(
      "tensor '{}' needs data bytes {} but the data ends at {}: {} bytes are missing from the file of {} bytes "
      "(truncated download?)",
      printable(cut->name), to_string(ByteRange{cut->begin, cut->end}), data_bytes, before.end - data_bytes,
      file_bytes);
}

TensorInfo to_tensor_info(HeaderTensor tensor, std::uint64_t data_start) {
  TensorInfo out{.name = std::move(tensor.name), .dtype = tensor.dtype, .shape = std::move(tensor.shape)};
  if (tensor.begin != tensor.end) {
    out.extents.push_back(
        {.range = {data_start + tensor.begin, data_start + tensor.end}, .box = Box::whole(out.shape)});
  }
  return out;
}

Result<Catalog> read(const std::string& path, const File& file, const OpenOptions& options) {
  SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t length, header_length(file, options.max_header_bytes));
  SHARDWISE_ASSIGN_OR_RETURN(Header header, read_header(file, length, options));
  std::vector<HeaderTensor>& tensors = header.tensors;
  std::stable_sort(tensors.begin(), tensors.end(), [](const HeaderTensor& a, const HeaderTensor& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  for (const HeaderTensor& tensor : tensors) SHARDWISE_RETURN_IF_ERROR(check_size(tensor));
  const std::uint64_t data_start = kLengthBytes + length;
  SHARDWISE_RETURN_IF_ERROR(check_gapless(tensors, file.size() - data_start, file.size()));

  Catalog catalog{.format = "safetensors", .path = path, .metadata = std::move(header.metadata)};
  catalog.files.push_back(describe(file));
  catalog.tensors.reserve(tensors.size());
  for (HeaderTensor& tensor : tensors) catalog.tensors.push_back(to_tensor_info(std::move(tensor), data_start));
  SHARDWISE_RETURN_IF_ERROR(check_names(catalog.tensors));
  return catalog;
}

}  // namespace

Result<Catalog> read_safetensors(const std::string& path, const File& file, const OpenOptions& options) {
  auto catalog = read(path, file, options);
  if (!catalog.ok()) return in_file(catalog.status(), path);
  return catalog;
}

}  // namespace shardwise
