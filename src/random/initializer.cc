#include "shardwise/initializer.h"

#include <type_traits>

#include "base/checked.h"
#include "base/format.h"
#include "random/orthogonal.h"

namespace shardwise {
namespace {

template <typename T>
concept Seeded = requires(T t) {
  t.seed;
};

template <typename Of>
Initializer scaled(std::string name, double scale, VarianceMode mode, VarianceDistribution distribution,
                   const Of& options) {
  return Initializer(std::move(name), VarianceScalingOptions{.scale = scale,
                                                             .mode = mode,
                                                             .distribution = distribution,
                                                             .seed = options.seed,
                                                             .input_axes = options.input_axes,
                                                             .output_axes = options.output_axes});
}

}  // namespace

Result<RandomKey> Seed::key() const {
  if (key_) return *key_;
  if (!number_) {
    return invalid_argument(
        "the initializer has no seed: give one, or draw it as Keras does (PythonRandom, with_default_seed)");
  }
  if (*number_ < 0 || *number_ > 0xffffffff) {
    return invalid_argument("seed {} is out of bounds for uint32", *number_);
  }
  return keras_key(static_cast<std::uint32_t>(*number_));
}

std::string Seed::to_string() const {
  if (key_) return shardwise::to_string(*key_);
  return number_ ? format("{}", *number_) : "None";
}

bool operator==(const Initializer::Array& a, const Initializer::Array& b) {
  return a.shape == b.shape && a.dtype == b.dtype && (a.bytes == b.bytes || *a.bytes == *b.bytes);
}

bool Initializer::is_random() const {
  return std::visit([]<typename P>(const P&) { return Seeded<P>; }, parameters_);
}

Seed Initializer::seed() const {
  return std::visit(
      []<typename P>(const P& of) {
        if constexpr (Seeded<P>) return of.seed;
        return Seed();
      },
      parameters_);
}

Initializer Initializer::with_seed(Seed seed) const {
  Initializer out = *this;
  std::visit(
      [&]<typename P>(P& of) {
        if constexpr (Seeded<P>) of.seed = seed;
      },
      out.parameters_);
  return out;
}

Initializer Initializer::with_default_seed(PythonRandom& python) const {
  return is_random() && !seed().given() ? with_seed(python.default_seed()) : *this;
}

Initializer Initializer::with_axes(std::vector<int> input_axes, std::vector<int> output_axes) const {
  Initializer out = *this;
  if (auto* of = std::get_if<VarianceScalingOptions>(&out.parameters_)) {
    of->input_axes = std::move(input_axes);
    of->output_axes = std::move(output_axes);
  }
  return out;
}

bool Initializer::needs_whole_tensor() const {
  return std::holds_alternative<OrthogonalOptions>(parameters_) || std::holds_alternative<Whole>(parameters_);
}

std::uint64_t Initializer::host_bytes(const Shape& shape, DType dtype) const {
  if (!needs_whole_tensor()) return 0;
  if (std::holds_alternative<OrthogonalOptions>(parameters_)) return orthogonal_host_bytes(shape, dtype);
  const auto bytes = byte_count(shape, dtype);
  return bytes.ok() ? *bytes : 0;
}

Initializer zeros() { return Initializer("Zeros", Initializer::Constant{0.0}); }
Initializer ones() { return Initializer("Ones", Initializer::Constant{1.0}); }
Initializer constant(double value) { return Initializer("Constant", Initializer::Constant{value}); }
Initializer identity(double gain) { return Initializer("Identity", Initializer::Identity{gain}); }
Initializer random_normal(const RandomNormalOptions& options) { return Initializer("RandomNormal", options); }
Initializer truncated_normal(const TruncatedNormalOptions& options) { return Initializer("TruncatedNormal", options); }
Initializer random_uniform(const RandomUniformOptions& options) { return Initializer("RandomUniform", options); }
Initializer variance_scaling(const VarianceScalingOptions& options) { return Initializer("VarianceScaling", options); }
Initializer glorot_uniform(const FanOptions& options) {
  return scaled("GlorotUniform", 1.0, VarianceMode::kFanAvg, VarianceDistribution::kUniform, options);
}
Initializer glorot_normal(const FanOptions& options) {
  return scaled("GlorotNormal", 1.0, VarianceMode::kFanAvg, VarianceDistribution::kTruncatedNormal, options);
}
Initializer he_uniform(const FanOptions& options) {
  return scaled("HeUniform", 2.0, VarianceMode::kFanIn, VarianceDistribution::kUniform, options);
}
Initializer he_normal(const FanOptions& options) {
  return scaled("HeNormal", 2.0, VarianceMode::kFanIn, VarianceDistribution::kTruncatedNormal, options);
}
Initializer lecun_uniform(const FanOptions& options) {
  return scaled("LecunUniform", 1.0, VarianceMode::kFanIn, VarianceDistribution::kUniform, options);
}
Initializer lecun_normal(const FanOptions& options) {
  return scaled("LecunNormal", 1.0, VarianceMode::kFanIn, VarianceDistribution::kTruncatedNormal, options);
}
Initializer orthogonal(const OrthogonalOptions& options) { return Initializer("Orthogonal", options); }
Initializer stft(const StftOptions& options) { return Initializer("STFT", options); }
Initializer array(Shape shape, DType dtype, std::vector<std::byte> bytes) {
  auto shared = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return Initializer("Array", Initializer::Array{std::move(shape), dtype, std::move(shared)});
}
Initializer custom(std::string name, WholeFunction function) {
  return Initializer(std::move(name), Initializer::Whole{std::make_shared<const WholeFunction>(std::move(function))});
}
Initializer custom_per_box(std::string name, BoxFunction function) {
  return Initializer(std::move(name), Initializer::PerBox{std::make_shared<const BoxFunction>(std::move(function))});
}

Rounding keras_rounding(const Shape& shape, std::uint64_t devices) {
  constexpr std::uint64_t kThreshold = std::uint64_t{250} << 20;
  const auto elements = element_count(shape);
  if (!elements.ok()) return Rounding::kEager;
  const auto bytes = checked_mul<std::uint64_t>(*elements, 4);
  const auto on_all = bytes ? checked_mul(*bytes, devices) : std::nullopt;
  return !on_all || *on_all >= kThreshold ? Rounding::kJit : Rounding::kEager;
}

}  // namespace shardwise
