#include "random/stft.h"

#include <cmath>
#include <cstring>

#include "base/format.h"
#include "random/arithmetic.h"
#include "random/whole_source.h"
#include "random/window.h"

namespace shardwise {
namespace {

template <typename A>
class StftSource final : public RunSource {
 public:
  using Value = typename A::Value;

  // `window` is empty for none.
  StftSource(const StftOptions& options, const Shape& shape, const std::vector<double>& window)
      : RunSource(sizeof(typename A::Bits)),
        is_real_(options.side == StftSide::kReal),
        channels_(static_cast<std::uint64_t>(shape[1])),
        bands_(static_cast<std::uint64_t>(shape[2])) {
    for (const double value : window) window_.push_back(A::from_double(value));
    if (options.scaling == StftScaling::kNone) return;
    double sum = 0;
    for (const Value value : window_) {
      sum += options.scaling == StftScaling::kDensity ? double{value} * double{value} : std::fabs(double{value});
    }
    if (options.scaling == StftScaling::kDensity) sum = as_keras(std::sqrt(as_keras(sum)));
    scaling_ = A::from_double(sum);
  }

  // Keras divides by the number of points of the transform, computes the angle in the dtype, step by step, and lets
  // channels broadcast: all are the same.
  Status fill_run(std::uint64_t first, std::uint64_t count, std::byte* out) const override {
    const auto half_turn = A::from_double(as_keras(3.14159265358979323846));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t band = (first + i) % bands_;
      const std::uint64_t time = (first + i) / bands_ / channels_;
      const Value frequency = A::round(number(band) / number((bands_ - 1) * 2));
      const Value angle = A::round(A::round(A::round(-2 * number(time)) * frequency) * half_turn);
      const double wide = as_keras(angle);
      Value value = A::from_double(as_keras(is_real_ ? std::cos(wide) : std::sin(wide)));
      if (!window_.empty()) value = A::round(A::round(value * window_[time]) / scaling_);
      const auto bits = A::bits(value);
      std::memcpy(out + i * sizeof(bits), &bits, sizeof(bits));
    }
    return {};
  }

 private:
  // Keras's elementary functions take and give float32 also where the dtype is float64.
  static double as_keras(double x) { return static_cast<float>(x); }
  static Value number(std::uint64_t n) { return A::from_double(static_cast<double>(n)); }

  bool is_real_;
  std::uint64_t channels_;
  std::uint64_t bands_;
  std::vector<Value> window_;
  Value scaling_ = 1;
};

}  // namespace

Status check_stft(const StftOptions& options, const Shape& shape) {
  if (shape.size() != 3) {
    return invalid_argument("STFT makes kernels of shape (frame_length, 1, bands), not {}", to_string(shape));
  }
  if (const auto* name = std::get_if<std::string>(&options.window)) {
    return name->empty() ? Status() : check_window(*name);
  }
  const auto& values = std::get<std::vector<double>>(options.window);
  if (values.size() == static_cast<std::uint64_t>(shape[0])) return {};
  return invalid_argument("The shape of `window` must be equal to [frame_length].Received: window shape=({},)",
                          values.size());
}

Result<SourcePtr> make_stft_source(const StftOptions& options, const Shape& shape, DType dtype) {
  std::vector<double> window;
  if (const auto* name = std::get_if<std::string>(&options.window)) {
    if (!name->empty()) {
      SHARDWISE_ASSIGN_OR_RETURN(window, make_window(*name, static_cast<std::size_t>(shape[0]), options.periodic));
    }
  } else {
    window = std::get<std::vector<double>>(options.window);
  }
  switch (dtype) {
    case DType::kFloat16:
      return SourcePtr(std::make_shared<StftSource<arithmetic::Float16>>(options, shape, window));
    case DType::kBfloat16:
      return SourcePtr(std::make_shared<StftSource<arithmetic::Bfloat16>>(options, shape, window));
    case DType::kFloat32:
      return SourcePtr(std::make_shared<StftSource<arithmetic::Float32>>(options, shape, window));
    default:
      return SourcePtr(std::make_shared<StftSource<arithmetic::Float64>>(options, shape, window));
  }
}

}  // namespace shardwise
