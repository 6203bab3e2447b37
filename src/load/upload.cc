#include "load/upload.h"

#include <algorithm>

#include "codec/strided_copy.h"

namespace shardwise {

Status upload(Device& device, Buffer& buffer, std::span<const CopyDim> dims, const std::byte* source, DType from,
              DType to, std::uint64_t target_offset, std::vector<std::byte>& packed) {
  // Pack in target order: dimensions by falling target stride, dense.
  std::vector<CopyDim> order(dims.begin(), dims.end());
  std::sort(order.begin(), order.end(),
            [](const CopyDim& a, const CopyDim& b) { return a.target_stride > b.target_stride; });
  std::vector<CopyDim> dense = order;
  std::int64_t count = 1;
  for (std::size_t d = dense.size(); d-- > 0;) {
    dense[d].target_stride = count;
    count *= static_cast<std::int64_t>(dense[d].extent);
  }
  const std::uint64_t width = byte_width(to);
  packed.resize(static_cast<std::uint64_t>(count) * width);
  SHARDWISE_RETURN_IF_ERROR(strided_copy(dense, source, from, packed.data(), to));

  // Innermost dimensions that are dense in the target too form one run.
  std::uint64_t run = 1;
  std::size_t left = order.size();
  while (left > 0 && order[left - 1].target_stride == static_cast<std::int64_t>(run)) run *= order[--left].extent;
  std::vector<std::shared_ptr<Event>> events;
  std::vector<std::uint64_t> at(left, 0);
  Status status;
  for (std::uint64_t done = 0; done < static_cast<std::uint64_t>(count) && status.ok(); done += run) {
    std::uint64_t offset = target_offset;
    for (std::size_t i = 0; i < left; ++i) offset += at[i] * static_cast<std::uint64_t>(order[i].target_stride);
    auto event = device.copy_from_host(buffer, offset * width, {packed.data() + done * width, run * width});
    if (event.ok()) {
      events.push_back(std::move(event).value());
    } else {
      status = event.status();
    }
    std::size_t i = left;
    while (i > 0 && ++at[i - 1] == order[i - 1].extent) at[--i] = 0;
  }
  // Also after an error: `packed` is reused once the copies that did start are done with it.
  for (const auto& event : events) {
    const Status waited = event->wait();
    if (status.ok()) status = waited;
  }
  return status;
}

}  // namespace shardwise
