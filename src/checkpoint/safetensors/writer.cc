#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/checked.h"
#include "base/format.h"
#include "checkpoint/safetensors/dtypes.h"
#include "io/partial_file.h"
#include "shardwise/bytes.h"
#include "shardwise/safetensors_writer.h"

namespace shardwise {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMetadata = "__metadata__";
constexpr std::uint64_t kSlabBytes = 1_MiB;

// Whether a safetensors file can hold it.
Status check_tensor(const TensorToWrite& tensor) {
  try {
    static_cast<void>(Json(tensor.name).dump());
  } catch (const Json::exception&) {
    return unimplemented("the tensor name '{}' is not UTF-8, as those of safetensors files are",
                         printable(tensor.name));
  }
  if (tensor.name == kMetadata) return unimplemented("no tensor of a safetensors file may be called {}", kMetadata);
  if (safetensors::dtype_name(tensor.dtype).empty()) {
    return unimplemented("tensor '{}' is {}, which safetensors files cannot hold", printable(tensor.name),
                         to_string(tensor.dtype));
  }
  return byte_count(tensor.shape, tensor.dtype).status().with_context(format("tensor '{}'", printable(tensor.name)));
}

Status check_tensors(const std::vector<TensorToWrite>& tensors) {
  std::unordered_set<std::string_view> names;
  for (const TensorToWrite& tensor : tensors) {
    SHARDWISE_RETURN_IF_ERROR(check_tensor(tensor));
    if (!names.insert(tensor.name).second) {
      return invalid_argument("two tensors are called '{}'", printable(tensor.name));
    }
  }
  return Status();
}

// Offsets in the data, wide elements first; and their sum.
std::pair<std::vector<std::uint64_t>, std::uint64_t> offsets_of(const std::vector<TensorToWrite>& tensors) {
  std::vector<std::size_t> order(tensors.size());
  for (std::size_t t = 0; t < order.size(); ++t) order[t] = t;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return bit_width(tensors[a].dtype) > bit_width(tensors[b].dtype);
  });
  std::vector<std::uint64_t> offsets(order.size());
  std::uint64_t end = 0;
  for (const std::size_t t : order) {
    offsets[t] = end;
    end += byte_count(tensors[t].shape, tensors[t].dtype).value();
  }
  return {std::move(offsets), end};
}

// 8 bytes of length, then JSON padded with blanks to a multiple of 8.
std::string header_of(const std::vector<TensorToWrite>& tensors, const std::vector<std::uint64_t>& offsets,
                      const std::map<std::string, std::string>& metadata) {
  Json entries = Json::object();
  if (!metadata.empty()) entries[kMetadata] = metadata;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const std::uint64_t bytes = byte_count(tensors[t].shape, tensors[t].dtype).value();
    entries[tensors[t].name] = {{"dtype", safetensors::dtype_name(tensors[t].dtype)},
                                {"shape", tensors[t].shape},
                                {"data_offsets", {offsets[t], offsets[t] + bytes}}};
  }
  std::string text = entries.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize(round_up(text.size(), 8), ' ');
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i));
  return length + text;
}

// Calls take(offset in the tensor, offset in the box, bytes) for every dense run of a box, both offsets in bytes.
template <typename Take>
Status for_each_run(const Shape& shape, const Box& box, std::uint64_t width, const Take& take) {
  if (box.elements() == 0) return Status();
  std::size_t outer = shape.size();
  std::uint64_t run = width;
  while (outer > 0) {
    --outer;
    run *= static_cast<std::uint64_t>(box.extent[outer]);
    if (box.extent[outer] != shape[outer]) break;
  }
  std::vector<std::int64_t> at(outer, 0);
  for (std::uint64_t done = 0;; done += run) {
    std::uint64_t offset = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      offset = offset * static_cast<std::uint64_t>(shape[d]) +
               static_cast<std::uint64_t>(box.origin[d] + (d < outer ? at[d] : 0));
    }
    SHARDWISE_RETURN_IF_ERROR(take(offset * width, done, run));
    std::size_t d = outer;
    while (d > 0 && ++at[d - 1] == box.extent[d - 1]) at[--d] = 0;
    if (d == 0) return Status();
  }
}

// The rows [first, last) of a part.
SafetensorsWriter::Part rows_of(const SafetensorsWriter::Part& part, std::int64_t first, std::int64_t last) {
  const std::int64_t begin = std::max(first, part.box.origin[0]);
  const std::int64_t end = std::min(last, part.box.origin[0] + part.box.extent[0]);
  if (begin >= end || part.bytes.empty()) return {};
  SafetensorsWriter::Part out = part;
  const std::uint64_t row = part.bytes.size() / static_cast<std::uint64_t>(part.box.extent[0]);
  out.bytes = part.bytes.subspan(static_cast<std::uint64_t>(begin - part.box.origin[0]) * row,
                                 static_cast<std::uint64_t>(end - begin) * row);
  out.box.origin[0] = begin;
  out.box.extent[0] = end - begin;
  return out;
}

}  // namespace

struct SafetensorsWriter::State {
  PartialFile file;
  std::vector<TensorToWrite> tensors;
  std::vector<std::uint64_t> offsets;  // in the file
  std::vector<std::uint64_t> missing;  // bytes that were not written yet
  std::vector<std::byte> slab;

  Status check(std::size_t tensor, const Part& part) const {
    const TensorToWrite& info = tensors[tensor];
    const bool whole = part.box == Box::whole(info.shape);
    if (!whole && (!fits(part.box, info.shape) || !is_byte_sized(info.dtype))) {
      return invalid_argument("tensor '{}': {} is no part of {} that can be written", printable(info.name),
                              to_string(part.box), to_string(info.shape));
    }
    const auto bytes = byte_count(part.box.extent, info.dtype);
    if (bytes.ok() && *bytes == part.bytes.size()) return Status();
    return invalid_argument("tensor '{}': {} bytes are not {}", printable(info.name), part.bytes.size(),
                            to_string(part.box));
  }

  Status write_run_by_run(std::size_t tensor, const Part& part) {
    return for_each_run(tensors[tensor].shape, part.box, byte_width(tensors[tensor].dtype),
                        [&](std::uint64_t offset, std::uint64_t begin, std::uint64_t size) {
                          return file.write(offsets[tensor] + offset, part.bytes.subspan(begin, size));
                        });
  }

  // Rows [first, last), which the parts together hold whole.
  Status write_slab(std::size_t tensor, std::span<const Part> parts, std::int64_t first, std::int64_t last,
                    std::uint64_t row) {
    const std::uint64_t begin = static_cast<std::uint64_t>(first) * row;
    slab.resize(static_cast<std::uint64_t>(last - first) * row);
    for (const Part& whole : parts) {
      const Part part = rows_of(whole, first, last);
      if (part.bytes.empty()) continue;
      SHARDWISE_RETURN_IF_ERROR(for_each_run(tensors[tensor].shape, part.box, byte_width(tensors[tensor].dtype),
                                             [&](std::uint64_t offset, std::uint64_t from, std::uint64_t size) {
                                               std::memcpy(slab.data() + (offset - begin), part.bytes.data() + from,
                                                           size);
                                               return Status();
                                             }));
    }
    return file.write(offsets[tensor] + begin, slab);
  }
};

SafetensorsWriter::SafetensorsWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
SafetensorsWriter::~SafetensorsWriter() = default;

Result<std::unique_ptr<SafetensorsWriter>> SafetensorsWriter::create(
    const std::string& path, std::vector<TensorToWrite> tensors, const std::map<std::string, std::string>& metadata) {
  SHARDWISE_RETURN_IF_ERROR(check_tensors(tensors));
  auto [offsets, bytes] = offsets_of(tensors);
  const std::string header = header_of(tensors, offsets, metadata);
  std::vector<std::uint64_t> missing;
  for (const TensorToWrite& tensor : tensors) missing.push_back(byte_count(tensor.shape, tensor.dtype).value());
  for (std::uint64_t& offset : offsets) offset += header.size();
  auto state =
      std::make_unique<State>(State{PartialFile(path), std::move(tensors), std::move(offsets), std::move(missing), {}});
  SHARDWISE_RETURN_IF_ERROR(state->file.create(header.size() + bytes));
  SHARDWISE_RETURN_IF_ERROR(state->file.write(0, std::as_bytes(std::span(header))));
  return std::unique_ptr<SafetensorsWriter>(new SafetensorsWriter(std::move(state)));
}

Status SafetensorsWriter::write(std::size_t tensor, std::span<const Part> parts) {
  State& state = *state_;
  if (tensor >= state.tensors.size()) return invalid_argument("there is no tensor number {}", tensor);
  const Shape& shape = state.tensors[tensor].shape;
  std::uint64_t bytes = 0;
  for (const Part& part : parts) {
    SHARDWISE_RETURN_IF_ERROR(state.check(tensor, part));
    bytes += part.bytes.size();
  }
  if (bytes == 0) return Status();
  const std::uint64_t left = state.missing[tensor];
  if (bytes > left) return invalid_argument("tensor '{}' is written twice", printable(state.tensors[tensor].name));
  const bool complete = bytes == byte_count(shape, state.tensors[tensor].dtype).value();
  const std::uint64_t row = shape.empty() || !complete ? 0 : bytes / static_cast<std::uint64_t>(shape[0]);
  if (complete && parts.size() > 1 && row != 0 && row <= kSlabBytes) {
    const auto step = static_cast<std::int64_t>(kSlabBytes / row);
    for (std::int64_t first = 0; first < shape[0]; first += step) {
      const std::int64_t last = std::min(first + step, shape[0]);
      SHARDWISE_RETURN_IF_ERROR(state.write_slab(tensor, parts, first, last, row));
    }
  } else {
    for (const Part& part : parts) {
      if (part.box == Box::whole(shape)) {
        SHARDWISE_RETURN_IF_ERROR(state.file.write(state.offsets[tensor], part.bytes));
      } else {
        SHARDWISE_RETURN_IF_ERROR(state.write_run_by_run(tensor, part));
      }
    }
  }
  state.missing[tensor] -= bytes;
  return Status();
}

Status SafetensorsWriter::finish() {
  for (std::size_t t = 0; t < state_->tensors.size(); ++t) {
    if (state_->missing[t] == 0) continue;
    return failed_precondition("{}: {} bytes of tensor '{}' were not written", state_->file.path(), state_->missing[t],
                               printable(state_->tensors[t].name));
  }
  return state_->file.publish();
}

}  // namespace shardwise
