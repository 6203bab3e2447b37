// Large memory blocks that fault rarely: 2 MiB aligned, transparent huge pages advised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "shardwise/status.h"

namespace shardwise {

// Owns `size` bytes, page aligned (2 MiB aligned from 2 MiB on); movable, not copyable. Memory is backed on first touch,
// so let the thread that fills it touch it first. Errors of create(): RESOURCE_EXHAUSTED.
class HugeBuffer {
 public:
  HugeBuffer() = default;
  static Result<HugeBuffer> create(std::uint64_t size);
  std::byte* data() { return data_.get(); }
  std::uint64_t size() const { return size_; }
  std::span<std::byte> span() { return {data_.get(), size_}; }

 private:
  struct Unmap {
    std::uint64_t size = 0;
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Unmap> data_;
  std::uint64_t size_ = 0;
};

}  // namespace shardwise
