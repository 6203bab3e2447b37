// Large memory blocks that fault rarely: 2 MiB aligned, transparent huge pages advised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "shardwise/status.h"

namespace shardwise {

// Owns `size` bytes, page aligned (2 MiB aligned from 2 MiB on); movable, not copyable. Memory is backed on first
// touch, so let the thread that fills it touch it first. Errors of create(): RESOURCE_EXHAUSTED. Thread-compatible:
// different threads may use different bytes.
class HugeBuffer {
 public:
  HugeBuffer() = default;
  static Result<HugeBuffer> create(std::uint64_t size);
  HugeBuffer(HugeBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  HugeBuffer& operator=(HugeBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~HugeBuffer();

  std::byte* data() { return data_; }
  std::uint64_t size() const { return size_; }
  std::span<std::byte> span() { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;  // null when size_ is 0
  std::uint64_t size_ = 0;
};

// Faults in the pages of `memory`, as its first touch would, without changing what they hold: others may write there.
// Advice only: nothing where the kernel cannot (Linux before 5.14). Thread-safe.
void populate(std::span<std::byte> memory);

}  // namespace shardwise
