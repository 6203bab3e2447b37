#include "codec/strided_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/format.h"
#include "codec/convert_copy.h"
#include "codec/copy_loops.h"
#include "codec/copy_shape.h"
#include "codec/move.h"

namespace shardwise {
namespace {

// Copies elements of `width` bytes as they are; uses up `shape`.
void move_all(CopyShape& shape, const std::byte* source, std::byte* target, std::uint64_t width, Stores stores) {
  std::uint64_t run = width;
  if (shape.rank != 0 && is_contiguous(shape.inner(), width, width)) run *= shape.take(shape.rank - 1).extent;
  if (shape.rank == 0) return copy_bytes(source, target, run, stores);
  const std::size_t across = find_transposed(shape, run, run);
  const ByteDim along = shape.take(shape.rank - 1);
  if (across < shape.rank && can_transpose(run)) {
    const ByteDim beside = shape.take(across);
    const Matrix matrix{along.extent, beside.extent, along.source, beside.target, run};
    (void)for_each_index(shape.all(), source, target, [&](const std::byte* from, std::byte* to) {
      transpose(matrix, from, to, stores);
      return Status();
    });
    return;
  }
  const Rows rows{along.extent, run, along.source, along.target};
  (void)for_each_index(shape.all(), source, target, [&](const std::byte* from, std::byte* to) {
    copy_rows(rows, from, to, stores);
    return Status();
  });
}

}  // namespace

Status strided_copy(std::span<const CopyDim> dims, const std::byte* source, DType from, std::byte* target, DType to) {
  if (!can_cast(from, to) || !is_byte_sized(from) || !is_byte_sized(to)) {
    return invalid_argument("cannot convert {} to {}", to_string(from), to_string(to));
  }
  std::optional<CopyShape> shape = simplify(dims, byte_width(from), byte_width(to));
  if (!shape) return invalid_argument("a copy of {} dimensions has more elements than memory can hold", dims.size());
  if (shape->empty) return {};
  source += shape->source_start;
  target += shape->target_start;
  const Stores stores = stores_for(shape->elements() * byte_width(to));
  Status status;
  if (from == to) {
    move_all(*shape, source, target, byte_width(from), stores);
  } else {
    status = ConvertCopy(from, to, stores).run(*shape, source, target);
  }
  if (stores == Stores::kStreaming) finish_streaming();
  return status;
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
  const std::size_t most = std::max(kPattern / element.size(), std::size_t{1}) * element.size();
  std::size_t filled = element.size();
  std::memcpy(target, element.data(), filled);
  while (filled < total) {
    const std::size_t next = std::min({filled, total - filled, most});
    std::memcpy(target + filled, target, next);
    filled += next;
  }
}

}  // namespace shardwise
