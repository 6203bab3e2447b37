#include "codec/convert_copy.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "codec/copy_loops.h"

namespace shardwise {
namespace {

constexpr std::uint64_t kBlock = 512;   // elements of a block on the stack
constexpr std::uint64_t kMaxWidth = 8;  // bytes of the widest type that converts

struct alignas(64) Block {
  std::array<std::byte, kBlock * kMaxWidth> bytes;
  std::byte* data() { return bytes.data(); }
};

std::int64_t signed_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

ConvertCopy::ConvertCopy(DType from, DType to, Stores stores)
    : from_(from),
      to_(to),
      stores_(stores),
      source_width_(byte_width(from)),
      target_width_(byte_width(to)),
      convert_(find_convert(from, to)) {}

Status ConvertCopy::run(CopyShape& shape, const std::byte* source, std::byte* target) const {
  if (shape.rank == 0) return contiguous(source, target, 1);
  const std::size_t across = find_transposed(shape, source_width_, target_width_);
  const ByteDim along = shape.take(shape.rank - 1);
  if (across < shape.rank) {
    const ByteDim beside = shape.take(across);
    return for_each_index(shape.all(), source, target,
                          [&](const auto* from, auto* to) { return transposed(along, beside, from, to); });
  }
  if (!is_contiguous(along, source_width_, target_width_)) {
    return for_each_index(shape.all(), source, target,
                          [&](const auto* from, auto* to) { return strided(along, from, to); });
  }
  const bool follows = shape.rank != 0 && shape.inner().target == signed_of(along.extent * target_width_);
  if (follows && along.extent < kBlock / 4) {
    const ByteDim rows = shape.take(shape.rank - 1);
    return for_each_index(shape.all(), source, target,
                          [&](const auto* from, auto* to) { return joined(rows, along.extent, from, to); });
  }
  return for_each_index(shape.all(), source, target,
                        [&](const auto* from, auto* to) { return streamed(from, to, along.extent); });
}

Status ConvertCopy::contiguous(const std::byte* source, std::byte* target, std::uint64_t count) const {
  const std::size_t converted = convert_(source, target, count);
  if (converted == count) return {};
  return invalid_argument("value {} of type {} does not fit {}",
                          integer_text(source + converted * source_width_, from_), to_string(from_), to_string(to_));
}

Status ConvertCopy::streamed(const std::byte* source, std::byte* target, std::uint64_t count) const {
  if (stores_ == Stores::kCached) return contiguous(source, target, count);
  Block out;
  for (std::uint64_t done = 0; done < count; done += kBlock) {
    const std::uint64_t some = std::min(kBlock, count - done);
    SHARDWISE_RETURN_IF_ERROR(contiguous(source + done * source_width_, out.data(), some));
    copy_bytes(out.data(), target + done * target_width_, some * target_width_, stores_);
  }
  return {};
}

// Short rows that follow each other in the target: collected, then converted together.
Status ConvertCopy::joined(const ByteDim& rows, std::uint64_t run, const std::byte* source, std::byte* target) const {
  Block in;
  const std::uint64_t most = kBlock / run;
  for (std::uint64_t done = 0; done < rows.extent; done += most) {
    const std::uint64_t some = std::min(most, rows.extent - done);
    const std::uint64_t bytes = run * source_width_;
    copy_rows({some, bytes, rows.source, signed_of(bytes)}, source + signed_of(done) * rows.source, in.data(),
              Stores::kCached);
    SHARDWISE_RETURN_IF_ERROR(streamed(in.data(), target + signed_of(done) * rows.target, some * run));
  }
  return {};
}

Status ConvertCopy::strided(const ByteDim& dim, const std::byte* source, std::byte* target) const {
  Block in;
  Block out;
  for (std::uint64_t done = 0; done < dim.extent; done += kBlock) {
    const std::uint64_t some = std::min(kBlock, dim.extent - done);
    copy_rows({some, source_width_, dim.source, signed_of(source_width_)}, source + signed_of(done) * dim.source,
              in.data(), Stores::kCached);
    SHARDWISE_RETURN_IF_ERROR(contiguous(in.data(), out.data(), some));
    copy_rows({some, target_width_, signed_of(target_width_), dim.target}, out.data(),
              target + signed_of(done) * dim.target, Stores::kCached);
  }
  return {};
}

Status ConvertCopy::transposed(const ByteDim& along, const ByteDim& beside, const std::byte* source,
                               std::byte* target) const {
  constexpr std::uint64_t kAlong = 64;
  constexpr std::uint64_t kBeside = 32;
  alignas(64) std::array<std::byte, kAlong * kBeside * kMaxWidth> in;
  alignas(64) std::array<std::byte, kAlong * kBeside * kMaxWidth> out;
  for (std::uint64_t b = 0; b < beside.extent; b += kBeside) {
    const std::uint64_t height = std::min(kBeside, beside.extent - b);
    for (std::uint64_t a = 0; a < along.extent; a += kAlong) {
      const std::uint64_t width = std::min(kAlong, along.extent - a);
      transpose({width, height, along.source, signed_of(width * source_width_), source_width_},
                source + signed_of(a) * along.source + signed_of(b) * beside.source, in.data(), Stores::kCached);
      SHARDWISE_RETURN_IF_ERROR(contiguous(in.data(), out.data(), width * height));
      const std::uint64_t bytes = width * target_width_;
      copy_rows({height, bytes, signed_of(bytes), beside.target}, out.data(),
                target + signed_of(a) * along.target + signed_of(b) * beside.target, stores_);
    }
  }
  return {};
}

}  // namespace shardwise
