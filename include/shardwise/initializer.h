// Keras's initializers as plain values: what a variable's first values are, for any part of it alone.
//
//   const Initializer kernel = glorot_uniform({.seed = 42});
//   SHARDWISE_ASSIGN_OR_RETURN(const Generator values, make_generator(kernel, {4096, 4096}, DType::kFloat32));
//   SHARDWISE_RETURN_IF_ERROR(values.generate(Box{{0, 512}, {4096, 512}}, bytes_of_the_shard));
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "shardwise/generator.h"
#include "shardwise/random.h"

namespace shardwise {

// Where an initializer's random bits come from: an integer seed as in Keras, which gives the same values each time; or
// a key, such as SeedGenerator::next() gives; or nothing yet. Immutable.
class Seed {
 public:
  Seed() = default;
  // Keras's integer seeds: 0 to 2^32 - 1; check() refuses others.
  Seed(std::int64_t seed) : number_(seed) {}
  Seed(int seed) : number_(seed) {}
  Seed(std::uint32_t seed) : number_(seed) {}
  Seed(RandomKey key) : key_(key) {}

  bool given() const { return number_ || key_; }
  // Errors: INVALID_ARGUMENT when no seed is given or the number is out of range.
  Result<RandomKey> key() const;
  // "42", "[42, 3]", "None".
  std::string to_string() const;
  friend bool operator==(const Seed&, const Seed&) = default;

 private:
  std::optional<std::int64_t> number_;
  std::optional<RandomKey> key_;
};

enum class VarianceMode : std::uint8_t { kFanIn, kFanOut, kFanAvg };
enum class VarianceDistribution : std::uint8_t { kTruncatedNormal, kUntruncatedNormal, kUniform };
enum class StftSide : std::uint8_t { kReal, kImag };
enum class StftScaling : std::uint8_t { kNone, kDensity, kSpectrum };

// Parameters, named and defaulted as in Keras.
struct RandomNormalOptions {
  double mean = 0.0;
  double stddev = 0.05;
  Seed seed;
  friend bool operator==(const RandomNormalOptions&, const RandomNormalOptions&) = default;
};
struct TruncatedNormalOptions {
  double mean = 0.0;
  double stddev = 0.05;
  Seed seed;
  friend bool operator==(const TruncatedNormalOptions&, const TruncatedNormalOptions&) = default;
};
struct RandomUniformOptions {
  double minval = -0.05;
  double maxval = 0.05;
  Seed seed;
  friend bool operator==(const RandomUniformOptions&, const RandomUniformOptions&) = default;
};
struct VarianceScalingOptions {
  double scale = 1.0;
  VarianceMode mode = VarianceMode::kFanIn;
  VarianceDistribution distribution = VarianceDistribution::kTruncatedNormal;
  Seed seed;
  // Dimensions that fan_in and fan_out are products of; negative ones count from the end. Both or neither.
  std::optional<std::vector<int>> input_axes = {};
  std::optional<std::vector<int>> output_axes = {};
  friend bool operator==(const VarianceScalingOptions&, const VarianceScalingOptions&) = default;
};
// Of Glorot, He and Lecun, which are VarianceScaling with the rest fixed.
struct FanOptions {
  Seed seed;
  std::optional<std::vector<int>> input_axes = {};
  std::optional<std::vector<int>> output_axes = {};
};
struct OrthogonalOptions {
  double gain = 1.0;
  Seed seed;
  friend bool operator==(const OrthogonalOptions&, const OrthogonalOptions&) = default;
};
struct StftOptions {
  StftSide side = StftSide::kReal;
  // A name of scipy.signal.get_window without parameters; or "" for none; or values.
  std::variant<std::string, std::vector<double>> window = "hann";
  StftScaling scaling = StftScaling::kDensity;
  // `true` as in Keras's `periodic`.
  bool periodic = false;
  friend bool operator==(const StftOptions&, const StftOptions&) = default;
};

// A user's own initializer for the whole tensor: writes it densely, row-major.
using WholeFunction = std::function<Status(const Shape& shape, DType dtype, std::span<std::byte> out)>;
// One that knows boxes, as one with a `layout` argument in Keras: writes the elements of the box. Called from several
// threads at once.
using BoxFunction = std::function<Status(const Shape& shape, DType dtype, const Box& box, std::span<std::byte> out)>;

// An initializer's class and parameters, without shape or dtype. Immutable, cheap to copy, compares by what it says (a
// user's function: by identity).
class Initializer {
 public:
  struct Constant {
    double value = 0.0;
    friend bool operator==(const Constant&, const Constant&) = default;
  };
  struct Identity {
    double gain = 1.0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  struct Array {
    Shape shape;
    DType dtype = DType::kFloat32;
    std::shared_ptr<const std::vector<std::byte>> bytes;
    friend bool operator==(const Array& a, const Array& b);
  };
  struct Whole {
    std::shared_ptr<const WholeFunction> function;
    friend bool operator==(const Whole&, const Whole&) = default;
  };
  struct PerBox {
    std::shared_ptr<const BoxFunction> function;
    friend bool operator==(const PerBox&, const PerBox&) = default;
  };
  using Parameters = std::variant<Constant, Identity, RandomNormalOptions, TruncatedNormalOptions, RandomUniformOptions,
                                  VarianceScalingOptions, OrthogonalOptions, StftOptions, Array, Whole, PerBox>;

  // `class_name` as Keras spells it: "GlorotUniform". Users call the functions below.
  Initializer(std::string class_name, Parameters parameters)
      : class_name_(std::move(class_name)), parameters_(std::move(parameters)) {}

  const std::string& class_name() const { return class_name_; }
  const Parameters& parameters() const { return parameters_; }

  // True for those that take a seed.
  bool is_random() const;
  // The seed; not given for those that take none.
  Seed seed() const;
  // The same with another seed; those that take none stay as they are.
  Initializer with_seed(Seed seed) const;
  // The same with the seed that Keras draws when it makes an initializer without one. One that has a seed, or takes
  // none, stays as it is and draws nothing.
  Initializer with_default_seed(PythonRandom& python) const;
  // The same with these axes, as EinsumDense makes one; those that are no VarianceScaling stay as they are.
  Initializer with_axes(std::vector<int> input_axes, std::vector<int> output_axes) const;

  // True when each element is the same number: zeros, ones, constants.
  bool is_constant() const { return std::holds_alternative<Constant>(parameters_); }
  // True when a part cannot be made without the whole tensor: Orthogonal, and users' functions that know no boxes.
  bool needs_whole_tensor() const;
  // Host bytes, at most, that a Generator takes while it is made, and afterwards holds: 0 for those that make any part
  // alone.
  std::uint64_t host_bytes(const Shape& shape, DType dtype) const;

  // glorot_uniform({.seed = 42})(shape, dtype, where): an array of which each device makes its own shard, as
  // initialize() of shardwise/initialize.h, which must be included.
  template <typename Where>
  auto operator()(const Shape& shape, DType dtype, const Where& where) const {
    return initialize(*this, shape, dtype, where);
  }

  // "GlorotUniform(seed=42)": class and parameters, those that are Keras's defaults left out.
  std::string to_string() const;
  friend bool operator==(const Initializer&, const Initializer&) = default;

 private:
  std::string class_name_;
  Parameters parameters_;
};

Initializer zeros();
Initializer ones();
Initializer constant(double value);
Initializer identity(double gain = 1.0);
Initializer random_normal(const RandomNormalOptions& options = {});
Initializer truncated_normal(const TruncatedNormalOptions& options = {});
Initializer random_uniform(const RandomUniformOptions& options = {});
Initializer variance_scaling(const VarianceScalingOptions& options = {});
Initializer glorot_uniform(const FanOptions& options = {});
Initializer glorot_normal(const FanOptions& options = {});
Initializer he_uniform(const FanOptions& options = {});
Initializer he_normal(const FanOptions& options = {});
Initializer lecun_uniform(const FanOptions& options = {});
Initializer lecun_normal(const FanOptions& options = {});
Initializer orthogonal(const OrthogonalOptions& options = {});
Initializer stft(const StftOptions& options = {});
// Given values, cast to the variable's dtype.
Initializer array(Shape shape, DType dtype, std::vector<std::byte> bytes);
Initializer custom(std::string name, WholeFunction function);
Initializer custom_per_box(std::string name, BoxFunction function);

// A Keras config, already parsed: {"class_name": "RandomNormal", "config": {"stddev": 0.02, "seed": 42}}. monostate is
// None.
struct InitializerConfig {
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                             std::vector<double>>;
  std::string class_name;
  std::map<std::string, Value> config;  // a seed of two integers is the state of a SeedGenerator
};

// Every name that keras.initializers.get() takes: "GlorotUniform", "glorot_uniform", "uniform", "zero", ...
// Errors: NOT_FOUND for an unknown name; INVALID_ARGUMENT for a parameter that is unknown, of the wrong type or out of
// range; Keras's words where Keras has words.
Result<Initializer> make_initializer(const InitializerConfig& config);
Result<Initializer> make_initializer(std::string_view name);

// fan_in and fan_out, as Keras counts them. One list of axes without the other counts for nothing, as in Keras.
struct Fans {
  std::uint64_t in = 1;
  std::uint64_t out = 1;
  friend bool operator==(Fans, Fans) = default;
};
// Errors: INVALID_ARGUMENT for an axis that the shape does not have.
Result<Fans> compute_fans(const Shape& shape, const std::optional<std::vector<int>>& input_axes = {},
                          const std::optional<std::vector<int>>& output_axes = {});

// Whether the initializer can make a tensor of this shape and dtype. Errors: INVALID_ARGUMENT with Keras's words where
// Keras has words: no seed, a seed out of range, a parameter out of range, a rank that it does not have, a dtype that
// is no float type.
Status check(const Initializer& initializer, const Shape& shape, DType dtype);

// The whole tensor, to ask parts from. One that needs the whole tensor makes it here. Errors: as check(), and those of
// a user's function.
Result<Generator> make_generator(const Initializer& initializer, const Shape& shape, DType dtype,
                                 Rounding rounding = Rounding::kEager);

// One box. Errors: as make_generator() and Generator::generate().
Status generate(const Initializer& initializer, const Shape& shape, DType dtype, Rounding rounding, const Box& box,
                std::span<std::byte> out);

// The rounding that Keras 3.15's JAX backend gives a variable under a distribution over `devices` devices: kJit from
// 250 MiB on, counted as elements * 4 bytes * devices whatever the dtype; kEager below, and for one without a layout.
Rounding keras_rounding(const Shape& shape, std::uint64_t devices);

}  // namespace shardwise
