// For tests: checkpoints made in memory, with what every tensor should hold.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codec/filter_testing.h"
#include "io/memory_file.h"
#include "plan/strides.h"
#include "plan/view_testing.h"
#include "plan/windows.h"
#include "shardwise/device.h"
#include "shardwise/load.h"

namespace shardwise {

// Builds a Catalog over files in memory. Tensors are stored raw, in filtered blocks, or not at all (fill value); their
// values are random bytes (small integers where a conversion follows).
class MemoryCheckpoint {
 public:
  explicit MemoryCheckpoint(std::uint64_t seed, std::size_t files = 1) : random_(seed), bytes_(files) {
    catalog_.format = "test";
    catalog_.path = "memory";
  }

  enum class Storage { kRaw, kBlocks, kFill };

  void add(const std::string& name, DType dtype, const Shape& shape, Storage storage = Storage::kRaw) {
    TensorInfo tensor{name, dtype, shape, {}, {}};
    std::string values = make_values(dtype, tensor.bytes());
    if (storage == Storage::kFill) {
      tensor.fill = values.substr(0, unit_width(dtype));
      for (std::size_t i = 0; i < values.size(); i += tensor.fill.size())
        values.replace(i, tensor.fill.size(), tensor.fill);
      if (tensor.bytes() != 0) tensor.extents.push_back({Extent::kNoFile, Extent::kRaw, 0, {}, Box::whole(shape)});
    } else if (storage == Storage::kBlocks && !shape.empty()) {
      add_blocks(tensor, values);
    } else if (tensor.bytes() != 0) {
      tensor.extents.push_back({file(), Extent::kRaw, 0, append(file(), values), Box::whole(shape)});
    }
    values_[name] = std::move(values);
    catalog_.tensors.push_back(std::move(tensor));
    next_file_ = (next_file_ + 1) % static_cast<std::uint32_t>(bytes_.size());
  }

  // Bytes between tensors that belong to none.
  void gap(std::size_t size) { bytes_[file()].append(size, '\x5a'); }

  const Catalog& finish() {
    catalog_.files.clear();
    for (std::size_t f = 0; f < bytes_.size(); ++f) {
      CatalogFile file;
      file.path = "file" + std::to_string(f);
      file.size = bytes_[f].size();
      catalog_.files.push_back(file);
    }
    return catalog_;
  }

  // For LoadOptions::open.
  Result<std::shared_ptr<const File>> open(const CatalogFile& file) const {
    const auto index = static_cast<std::size_t>(std::stoi(file.path.substr(4)));
    return std::shared_ptr<const File>(std::make_shared<MemoryFile>(file.path, std::string_view(bytes_[index])));
  }
  std::string& file_bytes(std::size_t index) { return bytes_[index]; }

  // Row-major bytes of a tensor.
  const std::string& values(const std::string& name) const { return values_.at(name); }

 private:
  std::uint32_t file() const { return next_file_; }

  std::string make_values(DType dtype, std::uint64_t size) {
    std::string values(size, '\0');
    for (char& c : values) c = static_cast<char>(random_());
    if (kind(dtype) == DTypeKind::kFloat && bit_width(dtype) >= 16) return small_numbers(dtype, size);
    return values;
  }

  // Numbers that every floating type holds exactly, so that conversions can be checked by bits.
  static const std::map<DType, std::vector<std::string>>& number_bits() {
    static const std::map<DType, std::vector<std::string>> kBits = [] {
      std::map<DType, std::vector<std::string>> out;
      for (const double number : {0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 96.0, -0.25}) {
        const auto f = static_cast<float>(number);
        std::uint32_t bits;
        std::memcpy(&bits, &f, 4);
        const auto high = static_cast<std::uint16_t>(bits >> 16);
        const auto exponent = ((bits >> 23) & 0xff) - 127 + 15;
        const auto half =
            static_cast<std::uint16_t>(f == 0 ? 0 : (high & 0x8000) | exponent << 10 | ((bits >> 13) & 0x3ff));
        const auto text = [](const auto& value) {
          return std::string(reinterpret_cast<const char*>(&value), sizeof value);
        };
        out[DType::kFloat64].push_back(text(number));
        out[DType::kFloat32].push_back(text(f));
        out[DType::kBfloat16].push_back(text(high));
        out[DType::kFloat16].push_back(text(half));
      }
      return out;
    }();
    return kBits;
  }

  std::string small_numbers(DType dtype, std::uint64_t size) {
    std::string values;
    while (values.size() < size) values += number_bits().at(dtype)[random_() % 8];
    return values;
  }

 public:
  // The same numbers in another floating type.
  static std::string convert(const std::string& values, DType from, DType to) {
    if (from == to) return values;
    std::string out;
    std::map<std::string, std::string> table;
    for (std::size_t i = 0; i < number_bits().at(from).size(); ++i)
      table[number_bits().at(from)[i]] = number_bits().at(to)[i];
    for (std::size_t i = 0; i < values.size(); i += byte_width(from))
      out += table.at(values.substr(i, byte_width(from)));
    return out;
  }

 private:
  ByteRange append(std::uint32_t file, const std::string& data) {
    const ByteRange range{bytes_[file].size(), bytes_[file].size() + data.size()};
    bytes_[file] += data;
    return range;
  }

  void add_blocks(TensorInfo& tensor, const std::string& values) {
    const std::uint64_t width = byte_width(tensor.dtype);
    Encoding encoding;
    for (const std::int64_t extent : tensor.shape) {
      encoding.block_shape.push_back(1 + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(extent + 1)));
    }
    const bool shuffle = random_() % 2 == 0;
    const bool deflate = random_() % 4 != 0;
    if (shuffle) encoding.filters.push_back({Filter::Kind::kShuffle, static_cast<std::uint32_t>(width)});
    if (deflate) encoding.filters.push_back({Filter::Kind::kDeflate, 0});
    const auto index = static_cast<std::uint32_t>(catalog_.encodings.size());
    catalog_.encodings.push_back(encoding);
    std::vector<std::int64_t> grid(tensor.shape.size(), 0);
    while (tensor.bytes() != 0) {
      Extent extent{file(), index, 0, {}, {}};
      for (std::size_t d = 0; d < grid.size(); ++d) {
        extent.box.origin.push_back(grid[d] * encoding.block_shape[d]);
        extent.box.extent.push_back(std::min(encoding.block_shape[d], tensor.shape[d] - extent.box.origin[d]));
      }
      filter_testing::Bytes block(Box::whole(encoding.block_shape).elements() * width, std::byte{0x77});
      for (std::uint64_t i = 0; i < extent.box.elements(); ++i) {
        const auto local = unravel(static_cast<std::int64_t>(i), extent.box.extent);
        auto global = local;
        for (std::size_t d = 0; d < local.size(); ++d) global[d] += extent.box.origin[d];
        std::memcpy(block.data() + static_cast<std::size_t>(ravel(local, encoding.block_shape)) * width,
                    values.data() + static_cast<std::size_t>(ravel(global, tensor.shape)) * width, width);
      }
      if (shuffle) block = filter_testing::shuffle(block, width);
      if (deflate) block = filter_testing::deflate(block);
      extent.range = append(file(), std::string(reinterpret_cast<const char*>(block.data()), block.size()));
      tensor.extents.push_back(std::move(extent));
      std::size_t d = grid.size();
      while (d > 0 && ++grid[d - 1] * encoding.block_shape[d - 1] >= tensor.shape[d - 1]) grid[--d] = 0;
      if (d == 0) break;
    }
  }

  std::mt19937_64 random_;
  Catalog catalog_;
  std::vector<std::string> bytes_;
  std::map<std::string, std::string> values_;
  std::uint32_t next_file_ = 0;
};

// Bytes of a box of a view of a tensor.
inline std::string expected_shard(const std::string& tensor_values, const View& view, const Box& box,
                                  std::uint64_t width) {
  std::string out;
  // A view that is the tensor itself is cut row by row; any other one element by element.
  const std::uint64_t run = view.is_identity() && box.rank() != 0 ? static_cast<std::uint64_t>(box.extent.back()) : 1;
  for (std::uint64_t i = 0; run != 0 && i < box.elements(); i += run) {
    std::vector<std::int64_t> index = unravel(static_cast<std::int64_t>(i), box.extent);
    for (std::size_t d = 0; d < index.size(); ++d) index[d] += box.origin[d];
    out += tensor_values.substr(static_cast<std::size_t>(naive_source(view, index)) * width, run * width);
  }
  return out;
}

inline std::string shard_bytes(const ShardedArray& array, std::size_t device) {
  const Buffer& buffer = *array.buffers()[device];
  return std::string(reinterpret_cast<const char*>(buffer.host_data()), buffer.size());
}

// A host device whose buffers hide their address, as an accelerator's do.
class OpaqueBuffer final : public Buffer {
 public:
  explicit OpaqueBuffer(std::shared_ptr<Buffer> buffer) : hidden(std::move(buffer)) {}
  std::uint64_t size() const override { return hidden->size(); }
  std::byte* host_data() override { return nullptr; }
  const std::byte* host_data() const override { return nullptr; }
  const std::shared_ptr<Buffer> hidden;
};
class OpaqueDevice final : public Device {
 public:
  explicit OpaqueDevice(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  const std::string& id() const override { return device_->id(); }
  DeviceInfo info() const override { return device_->info(); }
  DeviceMemory memory() const override { return device_->memory(); }
  void reset_peak() override { device_->reset_peak(); }
  Result<std::shared_ptr<Buffer>> allocate(std::uint64_t bytes) override {
    SHARDWISE_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, device_->allocate(bytes));
    return std::shared_ptr<Buffer>(std::make_shared<OpaqueBuffer>(std::move(buffer)));
  }
  Result<std::shared_ptr<Event>> copy_from_host(Buffer& buffer, std::uint64_t offset,
                                                std::span<const std::byte> source) override {
    return device_->copy_from_host(*static_cast<OpaqueBuffer&>(buffer).hidden, offset, source);
  }
  Status copy_to_host(const Buffer& buffer, std::uint64_t offset, std::span<std::byte> target) override {
    return device_->copy_to_host(*static_cast<const OpaqueBuffer&>(buffer).hidden, offset, target);
  }

 private:
  const std::shared_ptr<Device> device_;
};

inline DeviceList opaque_devices(std::size_t count) {
  DeviceList devices = host_devices(count);
  for (MeshDevice& device : devices) device.device = std::make_shared<OpaqueDevice>(device.device);
  return devices;
}

// The bytes of an array's shard on a device of any kind.
inline std::string read_back(const DeviceList& devices, const ShardedArray& array, std::size_t device) {
  std::string bytes(array.buffers()[device]->size(), '\0');
  const Status status =
      devices[device].device->copy_to_host(*array.buffers()[device], 0, std::as_writable_bytes(std::span(bytes)));
  return status.ok() ? bytes : status.to_string();
}

}  // namespace shardwise
