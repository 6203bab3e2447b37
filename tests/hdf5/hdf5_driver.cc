// Says what hdf5::read makes of a file.
//
//   hdf5_driver list FILE            JSON of groups, datasets and encodings
//   hdf5_driver values FILE          decoded bytes of all datasets, one after the other in the order of `list`
//   hdf5_driver check FILE...        one line per file: "OK <datasets>" or the status
//   hdf5_driver serve                reads paths from stdin, one a line; answers each with a line of JSON: {"error":
//   ...}
//                                    or {"datasets": {path: [dtype, shape, hex of values]}}
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checkpoint/hdf5/hdf5.h"
#include "codec/filters.h"
#include "shardwise/file.h"

namespace shardwise {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxDecodedBytes = std::uint64_t{64} << 20;

std::string text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Latin-1 to UTF-8: file names and attributes may hold any bytes.
std::string as_utf8(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xc0 | byte >> 6);
      out += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return out;
}

json attributes_json(const hdf5::TextAttributes& attributes) {
  json object = json::object();
  for (const auto& [name, values] : attributes) {
    json list = json::array();
    for (const std::string& value : values) list.push_back(as_utf8(value));
    object[as_utf8(name)] = list;
  }
  return object;
}

json extent_json(const Extent& extent) {
  json object = {{"origin", extent.box.origin}, {"extent", extent.box.extent}};
  if (extent.file != Extent::kNoFile) object["range"] = {extent.range.begin, extent.range.end};
  if (extent.encoding != Extent::kRaw) object["encoding"] = extent.encoding;
  if (extent.skipped_filters != 0) object["skipped"] = extent.skipped_filters;
  return object;
}

json encoding_json(const Encoding& encoding) {
  json filters = json::array();
  for (const Filter& filter : encoding.filters) filters.push_back({static_cast<int>(filter.kind), filter.element_size});
  return {{"filters", filters}, {"block", encoding.block_shape}};
}

json contents_json(const hdf5::Contents& contents) {
  json result = {{"groups", json::array()}, {"datasets", json::array()}, {"encodings", json::array()}};
  for (const hdf5::Group& group : contents.groups) {
    result["groups"].push_back({{"path", as_utf8(group.path)}, {"attributes", attributes_json(group.attributes)}});
  }
  for (std::size_t i = 0; i < contents.datasets.size(); ++i) {
    const TensorInfo& tensor = contents.datasets[i];
    json extents = json::array();
    for (const Extent& extent : tensor.extents) extents.push_back(extent_json(extent));
    result["datasets"].push_back({{"path", as_utf8(tensor.name)},
                                  {"dtype", to_string(tensor.dtype)},
                                  {"shape", tensor.shape},
                                  {"fill", as_utf8(tensor.fill)},
                                  {"extents", extents},
                                  {"attributes", attributes_json(contents.dataset_attributes[i])}});
  }
  for (const Encoding& encoding : contents.encodings) result["encodings"].push_back(encoding_json(encoding));
  return result;
}

// Copies `box` between row-major arrays: from one of shape `block` that begins at the box's origin into `target` of
// `shape`.
void scatter(const Box& box, const Shape& block, const Shape& shape, std::uint64_t width,
             const std::vector<std::byte>& from, std::vector<std::byte>& target) {
  std::vector<std::int64_t> index(box.rank(), 0);
  for (std::uint64_t left = box.elements(); left > 0; --left) {
    std::uint64_t source = 0;
    std::uint64_t to = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      source = source * static_cast<std::uint64_t>(block[d]) + static_cast<std::uint64_t>(index[d]);
      to = to * static_cast<std::uint64_t>(shape[d]) + static_cast<std::uint64_t>(box.origin[d] + index[d]);
    }
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(source * width), width,
                target.begin() + static_cast<std::ptrdiff_t>(to * width));
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < box.extent[d]) break;
      index[d] = 0;
    }
  }
}

Result<std::vector<std::byte>> block_bytes(const File& file, const Extent& extent, const TensorInfo& tensor,
                                           const Encoding* encoding) {
  std::vector<std::byte> stored(extent.range.size());
  SHARDWISE_RETURN_IF_ERROR(file.read(extent.range.begin, stored));
  if (encoding == nullptr) return stored;
  SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t size, byte_count(encoding->block_shape, tensor.dtype));
  std::vector<FilterStep> steps;
  for (const Filter& filter : encoding->filters) {
    steps.push_back({static_cast<FilterStep::Kind>(filter.kind), filter.element_size});
  }
  std::vector<std::byte> decoded(size);
  std::vector<std::byte> scratch(filter_scratch_bytes(steps, extent.skipped_filters, size));
  SHARDWISE_RETURN_IF_ERROR(decode_block(steps, extent.skipped_filters, stored, decoded, scratch));
  return decoded;
}

Result<std::vector<std::byte>> decoded_values(const File& file, const hdf5::Contents& contents,
                                              const TensorInfo& tensor) {
  SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t size, byte_count(tensor.shape, tensor.dtype));
  if (size > kMaxDecodedBytes) return resource_exhausted(std::string("too large for this program"));
  const std::uint64_t width = byte_width(tensor.dtype);
  std::vector<std::byte> values(size);
  for (const Extent& extent : tensor.extents) {
    if (extent.file == Extent::kNoFile) {
      std::vector<std::byte> fill(extent.box.elements() * width);
      for (std::size_t i = 0; i < fill.size() && !tensor.fill.empty(); ++i) fill[i] = std::byte(tensor.fill[i % width]);
      scatter(extent.box, extent.box.extent, tensor.shape, width, fill, values);
      continue;
    }
    const Encoding* encoding = extent.encoding == Extent::kRaw ? nullptr : &contents.encodings[extent.encoding];
    SHARDWISE_ASSIGN_OR_RETURN(const std::vector<std::byte> block, block_bytes(file, extent, tensor, encoding));
    scatter(extent.box, encoding == nullptr ? extent.box.extent : encoding->block_shape, tensor.shape, width, block,
            values);
  }
  return values;
}

std::string hex(const std::vector<std::byte>& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::byte b : bytes) {
    out += kDigits[std::to_integer<unsigned>(b) >> 4];
    out += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return out;
}

json served(const std::string& path) {
  const auto file = open_file(path);
  if (!file.ok()) return {{"error", as_utf8(file.status().to_string())}};
  const auto contents = hdf5::read(**file);
  if (!contents.ok()) return {{"error", as_utf8(contents.status().to_string())}};
  json datasets = json::object();
  for (const TensorInfo& tensor : contents->datasets) {
    const auto values = decoded_values(**file, *contents, tensor);
    if (values.ok()) {
      datasets[as_utf8(tensor.name)] = {to_string(tensor.dtype), tensor.shape, hex(*values)};
    } else {
      datasets[as_utf8(tensor.name)] = {to_string(tensor.dtype), tensor.shape, nullptr,
                                        as_utf8(values.status().to_string())};
    }
  }
  return {{"datasets", datasets}};
}

int fail(const Status& status) {
  std::cerr << status.to_string() << "\n";
  return 1;
}

int run(const std::vector<std::string>& args) {
  const std::string command = args.empty() ? "" : args[0];
  if (command == "serve") {
    for (std::string path; std::getline(std::cin, path);) std::cout << served(path).dump() << std::endl;
    return 0;
  }
  if (command == "check") {
    for (std::size_t i = 1; i < args.size(); ++i) {
      const auto file = open_file(args[i]);
      const auto contents = file.ok() ? hdf5::read(**file) : Result<hdf5::Contents>(file.status());
      std::cout << (contents.ok() ? "OK " + std::to_string(contents->datasets.size()) : contents.status().to_string())
                << "\n";
    }
    return 0;
  }
  if (args.size() != 2)
    return fail(invalid_argument(std::string("usage: hdf5_driver list|values|check|serve [FILE...]")));
  const auto file = open_file(args[1]);
  if (!file.ok()) return fail(file.status());
  const auto contents = hdf5::read(**file);
  if (!contents.ok()) return fail(contents.status());
  if (command == "list") {
    std::cout << contents_json(*contents).dump() << "\n";
    return 0;
  }
  for (const TensorInfo& tensor : contents->datasets) {
    const auto values = decoded_values(**file, *contents, tensor);
    if (!values.ok()) return fail(values.status().with_context(tensor.name));
    std::cout << text(*values);
  }
  return 0;
}

}  // namespace
}  // namespace shardwise

int main(int argc, char** argv) { return shardwise::run({argv + 1, argv + argc}); }
