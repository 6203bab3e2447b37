// Copies to buffers that the host cannot address: packed on the host first, then handed to the device run by run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shardwise/device.h"
#include "shardwise/dtype.h"
#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise {

// As strided_copy(), into the elements of `buffer` from `target_offset` on. Packs the elements in the order of their
// targets into `packed` (grown as needed; at most the source's bytes times the ratio of the widths), then copies each
// dense target run and waits. Errors: those of strided_copy and of the device.
Status upload(Device& device, Buffer& buffer, std::span<const CopyDim> dims, const std::byte* source, DType from,
              DType to, std::uint64_t target_offset, std::vector<std::byte>& packed);

}  // namespace shardwise
