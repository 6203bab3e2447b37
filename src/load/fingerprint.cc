#include <algorithm>
#include <vector>

#include "base/format.h"
#include "load/block_values.h"
#include "plan/windows.h"
#include "shardwise/load.h"

namespace shardwise {
namespace {

// The box in units: packed bytes for sub-byte types, whose last dimension (or all, when whole) counts in bytes.
struct Units {
  Shape shape;
  Box box;
};
Units units(const ShardedArray& array, const Box& box) {
  const int bits = bit_width(array.dtype());
  if (bits % 8 == 0) return {array.shape(), box};
  if (array.placement().boxes.size() == 1) {
    const auto bytes = static_cast<std::int64_t>(byte_count(array.shape(), array.dtype()).value());
    return {{bytes}, Box::whole({bytes})};
  }
  Units out{array.shape(), box};
  out.shape.back() = out.shape.back() * bits / 8;
  out.box.origin.back() = out.box.origin.back() * bits / 8;
  out.box.extent.back() = out.box.extent.back() * bits / 8;
  return out;
}

Status add_buffer(const ShardedArray& array, std::size_t device, std::uint64_t& sum) {
  const Buffer& buffer = *array.buffers()[device];
  const Units u = units(array, array.box(device));
  const std::uint64_t width = unit_width(array.dtype());
  if (const std::byte* data = buffer.host_data()) {
    sum += block_fingerprint(u.shape, u.box, u.box.extent, 0, {data, u.box.elements() * width}, width);
    return Status();
  }
  return unimplemented("fingerprint of '{}': its shards are not addressable by the host", array.name());
}

}  // namespace

Result<Fingerprint> fingerprint(const ShardedArray& array) {
  std::uint64_t sum = 0;
  for (std::size_t b = 0; b < array.placement().boxes.size(); ++b) {
    std::size_t device = 0;
    const auto& of_device = array.placement().device_box;
    while (device < of_device.size() && (of_device[device] != b || array.buffers()[device] == nullptr)) ++device;
    if (device == of_device.size()) {
      return failed_precondition("fingerprint of '{}': box {} is on no device of this process", array.name(),
                                 to_string(array.placement().boxes[b]));
    }
    SHARDWISE_RETURN_IF_ERROR(add_buffer(array, device, sum));
  }
  return FingerprintSum::from_sum(sum).finish(array.dtype(), array.shape());
}

}  // namespace shardwise
