// Values that lie in memory as a whole, and values that are computed from their index.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "random/box_runs.h"
#include "shardwise/generator.h"

namespace shardwise {

// Takes boxes apart into runs.
class RunSource : public Generator::Source {
 public:
  explicit RunSource(std::size_t element_bytes) : element_bytes_(element_bytes) {}

  Status fill_box(const Shape& shape, const Box& box, std::byte* out) const final {
    const BoxRuns runs(shape, box);
    return runs.for_each([&](std::uint64_t first) {
      Status status = fill_run(first, runs.length(), out);
      out += runs.length() * element_bytes_;
      return status;
    });
  }

 protected:
  std::size_t element_bytes() const { return element_bytes_; }

 private:
  std::size_t element_bytes_;
};

// Shares the bytes of the whole tensor.
class MemorySource final : public RunSource {
 public:
  MemorySource(std::size_t element_bytes, std::shared_ptr<const std::vector<std::byte>> bytes)
      : RunSource(element_bytes), bytes_(std::move(bytes)) {}

  Status fill_run(std::uint64_t first, std::uint64_t count, std::byte* out) const override {
    std::memcpy(out, bytes_->data() + first * element_bytes(), count * element_bytes());
    return {};
  }
  std::uint64_t held_bytes() const override { return bytes_->size(); }

 private:
  std::shared_ptr<const std::vector<std::byte>> bytes_;
};

}  // namespace shardwise
