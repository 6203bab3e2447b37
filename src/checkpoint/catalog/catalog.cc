#include "shardwise/catalog.h"

namespace shardwise {

std::uint64_t TensorInfo::bytes() const {
  const auto bytes = byte_count(shape, dtype);
  return bytes.ok() ? *bytes : 0;
}

const TensorInfo* Catalog::find(std::string_view name) const {
  for (const TensorInfo& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

std::uint64_t Catalog::total_bytes() const {
  std::uint64_t total = 0;
  for (const TensorInfo& tensor : tensors) total += tensor.bytes();
  return total;
}

}  // namespace shardwise
