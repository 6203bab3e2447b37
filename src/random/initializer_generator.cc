#include "base/format.h"
#include "random/constant_source.h"
#include "random/orthogonal.h"
#include "random/stft.h"
#include "random/variance.h"
#include "random/whole_source.h"
#include "shardwise/initializer.h"

namespace shardwise {
namespace {

class PerBoxSource final : public Generator::Source {
 public:
  PerBoxSource(Shape shape, DType dtype, std::shared_ptr<const BoxFunction> function)
      : shape_(std::move(shape)), dtype_(dtype), function_(std::move(function)) {}

  Status fill_box(const Shape& shape, const Box& box, std::byte* out) const override {
    return (*function_)(shape, dtype_, box, {out, box.elements() * byte_width(dtype_)});
  }

  // A run is a box when it lies in one row, and else the end of a row, whole rows, and the start of one.
  Status fill_run(std::uint64_t first, std::uint64_t count, std::byte* out) const override {
    while (count != 0) {
      const Box box = box_from(first, count);
      SHARDWISE_RETURN_IF_ERROR(fill_box(shape_, box, out));
      const std::uint64_t done = box.elements();
      first += done;
      count -= done;
      out += done * byte_width(dtype_);
    }
    return {};
  }

 private:
  // The largest box that begins at `first` and is a run of at most `count` elements.
  Box box_from(std::uint64_t first, std::uint64_t count) const {
    Box box{std::vector<std::int64_t>(shape_.size()), std::vector<std::int64_t>(shape_.size(), 1)};
    std::uint64_t inner = 1;  // elements of one step of dimension d
    bool whole = true;        // the box takes all of what is inside d
    for (std::size_t d = shape_.size(); d-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(shape_[d]);
      const std::uint64_t at = first / inner % extent;
      box.origin[d] = static_cast<std::int64_t>(at);
      if (whole) {
        const std::uint64_t taken = std::min(extent - at, count / inner);
        box.extent[d] = static_cast<std::int64_t>(std::max<std::uint64_t>(taken, 1));
        whole = taken == extent;
      }
      inner *= extent;
    }
    return box;
  }

  Shape shape_;
  DType dtype_;
  std::shared_ptr<const BoxFunction> function_;
};

Result<SourcePtr> memory_source(const Shape& shape, DType dtype, const auto& fill) {
  SHARDWISE_ASSIGN_OR_RETURN(const std::uint64_t size, byte_count(shape, dtype));
  auto bytes = std::make_shared<std::vector<std::byte>>(size);
  SHARDWISE_RETURN_IF_ERROR(fill(std::span<std::byte>(*bytes)));
  return SourcePtr(std::make_shared<MemorySource>(byte_width(dtype), std::move(bytes)));
}

// Parameters have been checked. What is drawn from a distribution is not made here.
struct MakeSource {
  const Shape& shape;
  DType dtype;

  Result<SourcePtr> operator()(const Initializer::Constant& of) const {
    SHARDWISE_ASSIGN_OR_RETURN(const ElementBytes element, encode_number(of.value, dtype));
    return make_constant_source(element, dtype);
  }
  Result<SourcePtr> operator()(const Initializer::Identity& of) const {
    SHARDWISE_ASSIGN_OR_RETURN(const ElementBytes diagonal, encode_number(of.gain, dtype));
    SHARDWISE_ASSIGN_OR_RETURN(const ElementBytes elsewhere, encode_number(of.gain * 0, dtype));
    return make_diagonal_source(diagonal, elsewhere, static_cast<std::uint64_t>(shape[1]), dtype);
  }
  Result<SourcePtr> operator()(const OrthogonalOptions& of) const {
    SHARDWISE_ASSIGN_OR_RETURN(const RandomKey key, of.seed.key());
    return make_orthogonal_source(key, of.gain, shape, dtype);
  }
  Result<SourcePtr> operator()(const StftOptions& of) const { return make_stft_source(of, shape, dtype); }
  Result<SourcePtr> operator()(const Initializer::Array& of) const {
    if (of.dtype == dtype) return SourcePtr(std::make_shared<MemorySource>(byte_width(dtype), of.bytes));
    return memory_source(shape, dtype,
                         [&](std::span<std::byte> out) { return cast_numbers(of.dtype, *of.bytes, dtype, out); });
  }
  Result<SourcePtr> operator()(const Initializer::Whole& of) const {
    return memory_source(shape, dtype, [&](std::span<std::byte> out) { return (*of.function)(shape, dtype, out); });
  }
  Result<SourcePtr> operator()(const Initializer::PerBox& of) const {
    return SourcePtr(std::make_shared<PerBoxSource>(shape, dtype, of.function));
  }
  Result<SourcePtr> operator()(const auto&) const { return internal_error("an initializer without a source"); }
};

// Which distribution an initializer draws from, if it draws each element from one.
struct FindDistribution {
  const Shape& shape;
  using Found = Result<std::optional<random::Distribution>>;

  Found operator()(const RandomNormalOptions& of) const {
    return std::optional<random::Distribution>(random::Normal{.mean = of.mean, .stddev = of.stddev});
  }
  Found operator()(const TruncatedNormalOptions& of) const {
    return std::optional<random::Distribution>(random::TruncatedNormal{.mean = of.mean, .stddev = of.stddev});
  }
  Found operator()(const RandomUniformOptions& of) const {
    return std::optional<random::Distribution>(random::Uniform{.minval = of.minval, .maxval = of.maxval});
  }
  Found operator()(const VarianceScalingOptions& of) const {
    SHARDWISE_ASSIGN_OR_RETURN(const random::Distribution distribution, distribution_of(of, shape));
    return std::optional(distribution);
  }
  Found operator()(const auto&) const { return std::optional<random::Distribution>(); }
};

}  // namespace

Result<Generator> make_generator(const Initializer& initializer, const Shape& shape, DType dtype, Rounding rounding) {
  SHARDWISE_RETURN_IF_ERROR(check(initializer, shape, dtype).with_context(initializer.to_string()));
  SHARDWISE_ASSIGN_OR_RETURN(const auto distribution, std::visit(FindDistribution{shape}, initializer.parameters()));
  if (distribution) {
    SHARDWISE_ASSIGN_OR_RETURN(const RandomKey key, initializer.seed().key());
    return random::make_generator(key, *distribution, shape, dtype, rounding);
  }
  if (Box::whole(shape).elements() == 0) return Generator(shape, dtype, make_constant_source({}, dtype));
  SHARDWISE_ASSIGN_OR_RETURN(SourcePtr source, std::visit(MakeSource{shape, dtype}, initializer.parameters()));
  return Generator(shape, dtype, std::move(source));
}

Status generate(const Initializer& initializer, const Shape& shape, DType dtype, Rounding rounding, const Box& box,
                std::span<std::byte> out) {
  SHARDWISE_ASSIGN_OR_RETURN(const Generator generator, make_generator(initializer, shape, dtype, rounding));
  return generator.generate(box, out);
}

}  // namespace shardwise
