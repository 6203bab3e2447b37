#include "codec/strided_copy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/format.h"
#include "codec/convert.h"
#include "codec/copy_shape.h"
#include "codec/move.h"

namespace shardwise {
namespace {

// Calls f(source, target) for every index of `dims`, the last dimension fastest; stops at the first error.
template <typename F>
Status for_each(std::span<const ByteDim> dims, const std::byte* source, std::byte* target, F&& f) {
  std::array<std::uint64_t, 64> index{};
  while (true) {
    SHARDWISE_RETURN_IF_ERROR(f(source, target));
    std::size_t d = dims.size();
    while (true) {
      if (d == 0) return {};
      --d;
      if (++index[d] < dims[d].extent) break;
      const auto back = static_cast<std::int64_t>(dims[d].extent - 1);
      source -= back * dims[d].source;
      target -= back * dims[d].target;
      index[d] = 0;
    }
    source += dims[d].source;
    target += dims[d].target;
  }
}

// A dimension other than the innermost whose neighbours lie side by side in the source, while the innermost's do so in
// the target: together they are a matrix to transpose.
std::size_t find_transposed(const CopyShape& shape, std::uint64_t source_width, std::uint64_t target_width) {
  if (shape.rank < 2 || shape.inner().target != static_cast<std::int64_t>(target_width)) return shape.rank;
  for (std::size_t d = 0; d + 1 < shape.rank; ++d) {
    if (shape.dims[d].source == static_cast<std::int64_t>(source_width)) return d;
  }
  return shape.rank;
}

bool is_contiguous(const ByteDim& dim, std::uint64_t source_width, std::uint64_t target_width) {
  return dim.source == static_cast<std::int64_t>(source_width) && dim.target == static_cast<std::int64_t>(target_width);
}

void move_all(CopyShape shape, const std::byte* source, std::byte* target, std::uint64_t width) {
  std::uint64_t run = width;
  if (shape.rank != 0 && is_contiguous(shape.inner(), width, width)) run *= shape.take(shape.rank - 1).extent;
  if (shape.rank == 0) return copy_bytes(target, source, run);
  if (const std::size_t across = find_transposed(shape, run, run); across != shape.rank && can_transpose(run)) {
    const ByteDim along = shape.take(shape.rank - 1);
    const ByteDim beside = shape.take(across);
    const Matrix matrix{along.extent, beside.extent, along.source, beside.target, run};
    (void)for_each(shape.all(), source, target, [&](const std::byte* from, std::byte* to) {
      transpose(matrix, from, to);
      return Status();
    });
    return;
  }
  const ByteDim rows = shape.take(shape.rank - 1);
  (void)for_each(shape.all(), source, target, [&](const std::byte* from, std::byte* to) {
    copy_rows(Rows{rows.extent, run, rows.source, rows.target}, from, to);
    return Status();
  });
}

// Copies with conversion: everything passes through `convert_`, directly where both sides are contiguous, else by way
// of small blocks on the stack. Thread-compatible; borrows nothing.
class Converter {
 public:
  Converter(DType from, DType to)
      : from_(from),
        to_(to),
        source_width_(byte_width(from)),
        target_width_(byte_width(to)),
        convert_(find_convert(from, to)) {}

  Status run(CopyShape shape, const std::byte* source, std::byte* target) const {
    if (shape.rank == 0) return contiguous(source, target, 1);
    const std::size_t across = find_transposed(shape, source_width_, target_width_);
    const ByteDim along = shape.take(shape.rank - 1);
    if (across < shape.rank) {
      const ByteDim beside = shape.take(across);
      return for_each(shape.all(), source, target,
                      [&](const std::byte* from, std::byte* to) { return transposed(along, beside, from, to); });
    }
    return for_each(shape.all(), source, target, [&](const std::byte* from, std::byte* to) {
      return is_contiguous(along, source_width_, target_width_) ? contiguous(from, to, along.extent)
                                                                : strided(along, from, to);
    });
  }

 private:
  static constexpr std::uint64_t kBlock = 128;   // elements of a stack block in one dimension
  static constexpr std::uint64_t kMaxWidth = 8;  // widest type that converts

  Status contiguous(const std::byte* source, std::byte* target, std::uint64_t count) const {
    const std::size_t converted = convert_(source, target, count);
    if (converted == count) return {};
    return invalid_argument("value {} of type {} does not fit {}",
                            integer_text(source + converted * source_width_, from_), to_string(from_), to_string(to_));
  }

  Status strided(const ByteDim& dim, const std::byte* source, std::byte* target) const {
    alignas(64) std::array<std::byte, kBlock * kMaxWidth> in;
    alignas(64) std::array<std::byte, kBlock * kMaxWidth> out;
    for (std::uint64_t done = 0; done < dim.extent; done += kBlock) {
      const std::uint64_t count = std::min(kBlock, dim.extent - done);
      const auto step = static_cast<std::int64_t>(done);
      copy_rows(Rows{count, source_width_, dim.source, static_cast<std::int64_t>(source_width_)},
                source + step * dim.source, in.data());
      SHARDWISE_RETURN_IF_ERROR(contiguous(in.data(), out.data(), count));
      copy_rows(Rows{count, target_width_, static_cast<std::int64_t>(target_width_), dim.target}, out.data(),
                target + step * dim.target);
    }
    return {};
  }

  Status transposed(const ByteDim& along, const ByteDim& beside, const std::byte* source, std::byte* target) const {
    constexpr std::uint64_t kSide = 64;
    alignas(64) std::array<std::byte, kSide * kSide * kMaxWidth> tile;
    const auto row_bytes = static_cast<std::int64_t>(kSide * source_width_);
    for (std::uint64_t a = 0; a < along.extent; a += kSide) {
      const std::uint64_t width = std::min(kSide, along.extent - a);
      for (std::uint64_t b = 0; b < beside.extent; b += kSide) {
        const std::uint64_t height = std::min(kSide, beside.extent - b);
        const auto at = [&](std::int64_t a_step, std::int64_t b_step) {
          return static_cast<std::int64_t>(a) * a_step + static_cast<std::int64_t>(b) * b_step;
        };
        transpose(Matrix{width, height, along.source, row_bytes, source_width_},
                  source + at(along.source, beside.source), tile.data());
        for (std::uint64_t row = 0; row < height; ++row) {
          SHARDWISE_RETURN_IF_ERROR(contiguous(
              tile.data() + row * static_cast<std::uint64_t>(row_bytes),
              target + at(along.target, beside.target) + static_cast<std::int64_t>(row) * beside.target, width));
        }
      }
    }
    return {};
  }

  DType from_;
  DType to_;
  std::uint64_t source_width_;
  std::uint64_t target_width_;
  ConvertRun convert_;
};

}  // namespace

Status strided_copy(std::span<const CopyDim> dims, const std::byte* source, DType from, std::byte* target, DType to) {
  if (!can_cast(from, to) || !is_byte_sized(from) || !is_byte_sized(to)) {
    return invalid_argument("cannot convert {} to {}", to_string(from), to_string(to));
  }
  const std::optional<CopyShape> shape = simplify(dims, byte_width(from), byte_width(to));
  if (!shape) return invalid_argument("a copy of {} dimensions has more elements than memory can hold", dims.size());
  if (shape->empty) return {};
  source += shape->source_start;
  target += shape->target_start;
  if (from != to) return Converter(from, to).run(*shape, source, target);
  move_all(*shape, source, target, byte_width(from));
  return {};
}

void fill_elements(std::byte* target, std::size_t count, std::span<const std::byte> element) {
  const std::size_t total = count * element.size();
  if (total == 0) return;
  if (std::all_of(element.begin(), element.end(), [&](std::byte b) { return b == element[0]; })) {
    std::memset(target, std::to_integer<int>(element[0]), total);
    return;
  }
  // A short pattern is doubled until it fills a block that stays in the nearest cache, then copied from there.
  constexpr std::size_t kPattern = 4096;
  std::size_t filled = element.size();
  std::memcpy(target, element.data(), filled);
  while (filled < total) {
    const std::size_t next =
        std::min({filled, total - filled, std::max(kPattern, element.size()) / element.size() * element.size()});
    std::memcpy(target + filled, target, next);
    filled += next;
  }
}

}  // namespace shardwise
