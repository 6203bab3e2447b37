#include "base/format.h"
#include "shardwise/initializer.h"

namespace shardwise {
namespace {

// Gathers "name=value", leaving out what Keras defaults.
class Arguments {
 public:
  template <typename T>
  void add(std::string_view name, const T& value, const T& fallback) {
    if (value != fallback) parts_.push_back(format("{}={}", name, value));
  }
  void add(std::string_view name, const std::string& text) { parts_.push_back(format("{}={}", name, text)); }
  void add(const Seed& seed) {
    if (seed.given()) add("seed", seed.to_string());
  }
  void add(std::string_view name, const std::optional<std::vector<int>>& axes) {
    if (axes) add(name, format("({})", fmt::join(*axes, ", ")));
  }
  std::string text() const { return format("({})", fmt::join(parts_, ", ")); }

 private:
  std::vector<std::string> parts_;
};

std::string_view name_of(VarianceMode mode) {
  constexpr std::string_view kNames[] = {"fan_in", "fan_out", "fan_avg"};
  return kNames[static_cast<int>(mode)];
}

std::string_view name_of(VarianceDistribution distribution) {
  constexpr std::string_view kNames[] = {"truncated_normal", "untruncated_normal", "uniform"};
  return kNames[static_cast<int>(distribution)];
}

struct Print {
  bool is_variance_scaling;  // and not Glorot, He or Lecun, which fix scale, mode and distribution
  bool shows_constant;
  Arguments out = {};

  void operator()(const Initializer::Constant& of) {
    if (shows_constant) out.add("value", of.value, 0.0);
  }
  void operator()(const Initializer::Identity& of) { out.add("gain", of.gain, 1.0); }
  void operator()(const RandomNormalOptions& of) { add_normal(of); }
  void operator()(const TruncatedNormalOptions& of) { add_normal(of); }
  void operator()(const RandomUniformOptions& of) {
    out.add("minval", of.minval, -0.05);
    out.add("maxval", of.maxval, 0.05);
    out.add(of.seed);
  }
  void operator()(const VarianceScalingOptions& of) {
    if (is_variance_scaling) {
      out.add("scale", of.scale, 1.0);
      out.add("mode", name_of(of.mode), std::string_view("fan_in"));
      out.add("distribution", name_of(of.distribution), std::string_view("truncated_normal"));
    }
    out.add(of.seed);
    out.add("input_axes", of.input_axes);
    out.add("output_axes", of.output_axes);
  }
  void operator()(const OrthogonalOptions& of) {
    out.add("gain", of.gain, 1.0);
    out.add(of.seed);
  }
  void operator()(const StftOptions& of) {
    constexpr std::string_view kScalings[] = {"None", "density", "spectrum"};
    out.add("side", std::string_view(of.side == StftSide::kReal ? "real" : "imag"), std::string_view("real"));
    if (const auto* name = std::get_if<std::string>(&of.window)) {
      out.add("window", name->empty() ? "None" : *name, std::string("hann"));
    } else {
      out.add("window", format("{} values", std::get<std::vector<double>>(of.window).size()));
    }
    out.add("scaling", kScalings[static_cast<int>(of.scaling)], std::string_view("density"));
    out.add("periodic", of.periodic, false);
  }
  void operator()(const Initializer::Array& of) {
    out.add("shape", to_string(of.shape));
    out.add("dtype", std::string(to_string(of.dtype)));
  }
  void operator()(const Initializer::Whole&) {}
  void operator()(const Initializer::PerBox&) {}

 private:
  template <typename Of>
  void add_normal(const Of& of) {
    out.add("mean", of.mean, 0.0);
    out.add("stddev", of.stddev, 0.05);
    out.add(of.seed);
  }
};

}  // namespace

std::string Initializer::to_string() const {
  Print print{.is_variance_scaling = class_name_ == "VarianceScaling", .shows_constant = class_name_ == "Constant"};
  std::visit(print, parameters_);
  return class_name_ + print.out.text();
}

}  // namespace shardwise
