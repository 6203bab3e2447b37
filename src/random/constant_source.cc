#include "random/constant_source.h"

#include <algorithm>
#include <cstring>

#include "random/fill_pattern.h"
#include "random/whole_source.h"

namespace shardwise {
namespace {

class ConstantSource : public RunSource {
 public:
  ConstantSource(const ElementBytes& element, std::size_t width)
      : RunSource(width),
        is_one_byte_(std::all_of(element.begin(), element.begin() + static_cast<std::ptrdiff_t>(width),
                                 [&](std::byte b) { return b == element[0]; })) {
    for (std::size_t i = 0; i < pattern_.size(); i += width) std::memcpy(pattern_.data() + i, element.data(), width);
  }

  Status fill_run(std::uint64_t /*first*/, std::uint64_t count, std::byte* out) const override {
    fill(count, out);
    return {};
  }

 protected:
  void fill(std::uint64_t count, std::byte* out) const {
    const std::uint64_t bytes = count * element_bytes();
    if (is_one_byte_) {
      std::memset(out, static_cast<int>(pattern_[0]), bytes);
      return;
    }
    fill_pattern(pattern_, bytes, out);
  }

 private:
  bool is_one_byte_;
  FillPattern pattern_{};
};

class DiagonalSource final : public RunSource {
 public:
  DiagonalSource(const ElementBytes& diagonal, const ElementBytes& elsewhere, std::uint64_t columns, std::size_t width)
      : RunSource(width), diagonal_(diagonal), elsewhere_(elsewhere, width), columns_(columns) {}

  Status fill_run(std::uint64_t first, std::uint64_t count, std::byte* out) const override {
    SHARDWISE_RETURN_IF_ERROR(elsewhere_.fill_run(first, count, out));
    // Element (r, r) has index r * (columns + 1).
    const std::uint64_t step = columns_ + 1;
    for (std::uint64_t row = (first + step - 1) / step; row < columns_ && row * step < first + count; ++row) {
      std::memcpy(out + (row * step - first) * element_bytes(), diagonal_.data(), element_bytes());
    }
    return {};
  }

 private:
  ElementBytes diagonal_;
  ConstantSource elsewhere_;
  std::uint64_t columns_;
};

}  // namespace

SourcePtr make_constant_source(const ElementBytes& element, DType dtype) {
  return std::make_shared<ConstantSource>(element, byte_width(dtype));
}

SourcePtr make_diagonal_source(const ElementBytes& diagonal, const ElementBytes& elsewhere, std::uint64_t columns,
                               DType dtype) {
  return std::make_shared<DiagonalSource>(diagonal, elsewhere, columns, byte_width(dtype));
}

}  // namespace shardwise
