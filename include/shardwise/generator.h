// Values of one tensor that are made rather than read: any part of it, alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "shardwise/dtype.h"
#include "shardwise/shape.h"
#include "shardwise/status.h"

namespace shardwise {

// Which of Keras's two ways to compute an initial value is followed. They use the same random bits, and their
// values differ in the last place for some distributions and dtypes.
enum class Rounding : std::uint8_t {
  kEager,  // the sampler, `* stddev` and `+ mean` run one after the other
  kJit,    // all of it compiled as one program
};
// "eager", "jit".
std::string_view to_string(Rounding rounding);
// Errors: INVALID_ARGUMENT.
Result<Rounding> parse_rounding(std::string_view name);

// The values of a whole tensor, of which any part can be asked for. Made by random::make_generator() or by
// make_generator(Initializer). Immutable, thread-safe, cheap to copy. The values of an element do not depend on which
// part it was asked for with.
class Generator {
 public:
  // What a kind of values implements.
  class Source {
   public:
    virtual ~Source() = default;
    // Elements [first, first + count) in row-major order of the tensor, densely; `out` needs no alignment.
    virtual Status fill_run(std::uint64_t first, std::uint64_t count, std::byte* out) const = 0;
    // The elements of a box that lies inside the tensor, row-major, densely.
    virtual Status fill_box(const Shape& shape, const Box& box, std::byte* out) const = 0;
    // Bytes that the source holds for its whole life: the whole tensor, or a small table, or nothing.
    virtual std::uint64_t held_bytes() const { return 0; }
  };

  Generator(Shape shape, DType dtype, std::shared_ptr<const Source> source)
      : shape_(std::move(shape)), dtype_(dtype), source_(std::move(source)) {}

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::uint64_t held_bytes() const { return source_->held_bytes(); }

  // Writes the elements of `box`, densely, row-major. Errors: INVALID_ARGUMENT when the box is not inside the tensor or
  // `out` has not exactly its size; otherwise only those of a user's own function.
  Status generate(const Box& box, std::span<std::byte> out) const;
  // Writes the elements from row-major index `first`, as many as fill `out`. Errors: as above.
  Status generate_range(std::uint64_t first, std::span<std::byte> out) const;

 private:
  Shape shape_;
  DType dtype_;
  std::shared_ptr<const Source> source_;
};

}  // namespace shardwise
