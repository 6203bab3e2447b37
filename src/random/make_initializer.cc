// Keras's names and configs.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/format.h"
#include "random/window.h"
#include "shardwise/initializer.h"

namespace shardwise {
namespace {

using Value = InitializerConfig::Value;

std::string text_of(const Value& value) {
  return std::visit(
      []<typename T>(const T& of) -> std::string {
        if constexpr (std::is_same_v<T, std::monostate>)
          return "None";
        else if constexpr (std::is_same_v<T, bool>)
          return of ? "True" : "False";
        else if constexpr (std::is_same_v<T, std::string>)
          return printable(of);
        else if constexpr (std::is_same_v<T, double>)
          return format("{:#}", of);  // as Python writes it
        else
          return format("{}", of);
      },
      value);
}

// Takes parameters out of a config, one by one; the first that is of a wrong type is the error, or one that was left.
class Config {
 public:
  explicit Config(const InitializerConfig& config) : name_(config.class_name), left_(config.config) {}

  double number(const std::string& name, double fallback) {
    const auto value = take(name);
    if (!value) return fallback;
    if (const auto* real = std::get_if<double>(&*value)) return *real;
    if (const auto* whole = std::get_if<std::int64_t>(&*value)) return static_cast<double>(*whole);
    if (const auto* truth = std::get_if<bool>(&*value)) return *truth ? 1 : 0;
    fail(name, *value, "a number");
    return fallback;
  }

  Seed seed() {
    const auto value = take("seed");
    if (!value || std::holds_alternative<std::monostate>(*value)) return {};
    if (const auto* whole = std::get_if<std::int64_t>(&*value)) return *whole;
    if (const auto* state = std::get_if<std::vector<std::int64_t>>(&*value); state != nullptr && state->size() == 2) {
      const auto word = [](std::int64_t x) { return x >= 0 && x <= 0xffffffff; };
      if (word((*state)[0]) && word((*state)[1])) {
        return RandomKey{static_cast<std::uint32_t>((*state)[0]), static_cast<std::uint32_t>((*state)[1])};
      }
    }
    keep(invalid_argument(
        "`seed` argument should be an instance of `keras.random.SeedGenerator()` or an integer. Received: seed={}",
        text_of(*value)));
    return {};
  }

  std::optional<std::vector<int>> axes(const std::string& name) {
    const auto value = take(name);
    if (!value || std::holds_alternative<std::monostate>(*value)) return std::nullopt;
    const auto* list = std::get_if<std::vector<std::int64_t>>(&*value);
    // An empty list has no type.
    if (const auto* none = std::get_if<std::vector<double>>(&*value); none != nullptr && none->empty()) {
      return std::vector<int>();
    }
    if (list == nullptr ||
        std::any_of(list->begin(), list->end(), [](std::int64_t axis) { return std::abs(axis) > 64; })) {
      fail(name, *value, "a list of dimensions");
      return std::nullopt;
    }
    return std::vector<int>(list->begin(), list->end());
  }

  // The index of the parameter's text among `names`; None stands for "".
  template <std::size_t kCount>
  std::size_t choice(const std::string& name, const std::array<std::string_view, kCount>& names, std::size_t fallback,
                     const std::function<Status(const std::string&)>& refusal) {
    const auto value = take(name);
    if (!value) return fallback;
    const auto* text = std::get_if<std::string>(&*value);
    const std::string given = text != nullptr ? *text : "";
    if (text != nullptr || std::holds_alternative<std::monostate>(*value)) {
      const auto found = std::find(names.begin(), names.end(), given);
      if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    }
    keep(refusal(text_of(*value)));
    return fallback;
  }

  // How Python writes a parameter that was not taken yet.
  std::string text(const std::string& name) const {
    const auto found = left_.find(name);
    return found == left_.end() ? std::string() : text_of(found->second);
  }

  std::optional<Value> take(const std::string& name) {
    const auto node = left_.extract(name);
    if (node.empty()) return std::nullopt;
    return node.mapped();
  }

  void keep(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  void fail(const std::string& name, const Value& value, std::string_view wanted) {
    keep(invalid_argument("{}: `{}` must be {}. Received: {}={}", name_, name, wanted, name, text_of(value)));
  }

  Result<Initializer> finish(Initializer initializer) {
    if (status_.ok() && !left_.empty()) {
      status_ = invalid_argument("{}.__init__() got an unexpected keyword argument '{}'", name_,
                                 printable(left_.begin()->first));
    }
    if (!status_.ok()) return status_;
    return initializer;
  }

 private:
  std::string name_;
  std::map<std::string, Value> left_;
  Status status_;
};

// Named parameters in the order of the calls: an aggregate's initialisers are evaluated from the left.
FanOptions fans_from(Config& config) {
  return {.seed = config.seed(), .input_axes = config.axes("input_axes"), .output_axes = config.axes("output_axes")};
}

template <Initializer (*kMake)(const FanOptions&)>
Result<Initializer> make_fan(Config& config) {
  return config.finish(kMake(fans_from(config)));
}

Result<Initializer> make_zeros(Config& config) { return config.finish(zeros()); }
Result<Initializer> make_ones(Config& config) { return config.finish(ones()); }
Result<Initializer> make_constant(Config& config) { return config.finish(constant(config.number("value", 0.0))); }
Result<Initializer> make_identity(Config& config) { return config.finish(identity(config.number("gain", 1.0))); }

Result<Initializer> make_random_normal(Config& config) {
  return config.finish(random_normal(
      {.mean = config.number("mean", 0.0), .stddev = config.number("stddev", 0.05), .seed = config.seed()}));
}
Result<Initializer> make_truncated_normal(Config& config) {
  return config.finish(truncated_normal(
      {.mean = config.number("mean", 0.0), .stddev = config.number("stddev", 0.05), .seed = config.seed()}));
}
Result<Initializer> make_random_uniform(Config& config) {
  return config.finish(random_uniform(
      {.minval = config.number("minval", -0.05), .maxval = config.number("maxval", 0.05), .seed = config.seed()}));
}
Result<Initializer> make_orthogonal(Config& config) {
  return config.finish(orthogonal({.gain = config.number("gain", 1.0), .seed = config.seed()}));
}

Result<Initializer> make_variance_scaling(Config& config) {
  constexpr std::array<std::string_view, 3> kModes = {"fan_in", "fan_out", "fan_avg"};
  constexpr std::array<std::string_view, 4> kDistributions = {"truncated_normal", "untruncated_normal", "uniform",
                                                              "normal"};
  VarianceScalingOptions options;
  const std::string given_scale = config.text("scale");
  options.scale = config.number("scale", 1.0);
  if (!(options.scale > 0) || !std::isfinite(options.scale)) {
    config.keep(invalid_argument("Argument `scale` must be positive float. Received: scale={}", given_scale));
  }
  options.mode = static_cast<VarianceMode>(config.choice("mode", kModes, 0, [](const std::string& given) {
    return invalid_argument("Invalid `mode` argument: {}. Please use one of {{'fan_in', 'fan_out', 'fan_avg'}}", given);
  }));
  const std::size_t distribution = config.choice("distribution", kDistributions, 0, [](const std::string& given) {
    return invalid_argument(
        "Invalid `distribution` argument: {}.Please use one of {{'uniform', 'truncated_normal', "
        "'untruncated_normal'}}",
        given);
  });
  options.distribution = static_cast<VarianceDistribution>(distribution % 3);
  options.seed = config.seed();
  options.input_axes = config.axes("input_axes");
  options.output_axes = config.axes("output_axes");
  return config.finish(variance_scaling(options));
}

void take_window(Config& config, StftOptions& options) {
  const auto value = config.take("window");
  if (!value) return;
  if (const auto* name = std::get_if<std::string>(&*value)) {
    config.keep(check_window(*name));
    options.window = *name;
  } else if (const auto* reals = std::get_if<std::vector<double>>(&*value)) {
    options.window = *reals;
  } else if (const auto* wholes = std::get_if<std::vector<std::int64_t>>(&*value)) {
    options.window = std::vector<double>(wholes->begin(), wholes->end());
  } else if (std::holds_alternative<std::monostate>(*value)) {
    options.window = "";
  } else {
    config.fail("window", *value, "a name or a list of numbers");
  }
}

Result<Initializer> make_stft(Config& config) {
  constexpr std::array<std::string_view, 2> kSides = {"real", "imag"};
  constexpr std::array<std::string_view, 3> kScalings = {"", "density", "spectrum"};
  StftOptions options;
  options.side = static_cast<StftSide>(config.choice("side", kSides, 0, [](const std::string& given) {
    return invalid_argument("side should be 'real' or 'imag', not {}", given);
  }));
  take_window(config, options);
  options.scaling = static_cast<StftScaling>(config.choice("scaling", kScalings, 1, [](const std::string& given) {
    return invalid_argument("Scaling is invalid, it must be `None`, 'density' or 'spectrum'. Received scaling={}",
                            given);
  }));
  options.periodic = config.number("periodic", 0.0) != 0;
  return config.finish(stft(options));
}

struct Class {
  std::string_view name;
  Result<Initializer> (*make)(Config& config);
  std::array<std::string_view, 2> aliases = {};
};
constexpr Class kClasses[] = {
    {"Zeros", make_zeros, {"zero"}},
    {"Ones", make_ones, {"one"}},
    {"Constant", make_constant},
    {"Identity", make_identity, {"IdentityInitializer"}},
    {"RandomNormal", make_random_normal, {"normal"}},
    {"RandomUniform", make_random_uniform, {"uniform"}},
    {"TruncatedNormal", make_truncated_normal},
    {"VarianceScaling", make_variance_scaling},
    {"GlorotUniform", make_fan<glorot_uniform>},
    {"GlorotNormal", make_fan<glorot_normal>},
    {"HeUniform", make_fan<he_uniform>},
    {"HeNormal", make_fan<he_normal>},
    {"LecunUniform", make_fan<lecun_uniform>},
    {"LecunNormal", make_fan<lecun_normal>},
    {"Orthogonal", make_orthogonal, {"OrthogonalInitializer"}},
    {"STFT", make_stft, {"STFTInitializer"}},
};

// "GlorotUniform" -> "glorot_uniform", "STFT" -> "stft".
std::string snake_case(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto upper = [&](std::size_t at) { return std::isupper(static_cast<unsigned char>(name[at])) != 0; };
    if (i > 0 && upper(i) && !upper(i - 1)) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return out;
}

const Class* find_class(std::string_view name) {
  for (const Class& of : kClasses) {
    const bool alias = !name.empty() && std::find(of.aliases.begin(), of.aliases.end(), name) != of.aliases.end();
    if (name == of.name || alias || name == snake_case(of.name)) return &of;
  }
  return nullptr;
}

}  // namespace

Result<Initializer> make_initializer(const InitializerConfig& config) {
  const Class* of = find_class(config.class_name);
  if (of == nullptr) {
    std::vector<std::string_view> names;
    for (const Class& known : kClasses) names.push_back(known.name);
    return not_found("Could not interpret initializer identifier: {}. There are: {}", printable(config.class_name),
                     fmt::join(names, ", "));
  }
  Config parameters(config);
  return of->make(parameters);
}

Result<Initializer> make_initializer(std::string_view name) {
  return make_initializer(InitializerConfig{std::string(name), {}});
}

}  // namespace shardwise
