#include "shardwise/generator.h"

#include "base/format.h"

namespace shardwise {

std::string_view to_string(Rounding rounding) { return rounding == Rounding::kJit ? "jit" : "eager"; }

Result<Rounding> parse_rounding(std::string_view name) {
  if (name == "eager") return Rounding::kEager;
  if (name == "jit") return Rounding::kJit;
  return invalid_argument("rounding '{}' is neither 'eager' nor 'jit'", printable(name));
}

Status Generator::generate(const Box& box, std::span<std::byte> out) const {
  if (!fits(box, shape_)) {
    return invalid_argument("box {} is not inside a tensor of shape {}", to_string(box), to_string(shape_));
  }
  const std::uint64_t bytes = box.elements() * byte_width(dtype_);
  if (out.size() != bytes) {
    return invalid_argument("box {} of {} takes {} bytes, not the {} given", to_string(box), to_string(dtype_), bytes,
                            out.size());
  }
  if (bytes == 0) return {};
  return source_->fill_box(shape_, box, out.data());
}

Status Generator::generate_range(std::uint64_t first, std::span<std::byte> out) const {
  const std::uint64_t width = byte_width(dtype_);
  if (out.size() % width != 0) {
    return invalid_argument("{} bytes hold no whole number of {}", out.size(), to_string(dtype_));
  }
  const std::uint64_t count = out.size() / width;
  const std::uint64_t elements = Box::whole(shape_).elements();
  if (first > elements || count > elements - first) {
    return invalid_argument("elements [{}, {} + {}) are not inside a tensor of shape {} with {} elements", first, first,
                            count, to_string(shape_), elements);
  }
  if (count == 0) return {};
  return source_->fill_run(first, count, out.data());
}

}  // namespace shardwise
