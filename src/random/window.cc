// Formulas: Harris, On the use of windows for harmonic analysis; Nuttall, Some windows with very good sidelobe
// behavior; Doerry, Catalog of window taper functions.
#include "random/window.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "base/format.h"

namespace shardwise {
namespace {

using std::numbers::pi;

// A symmetric window of n > 1 points.
using Formula = std::vector<double> (*)(std::size_t n);

// Calls f(t) for t from -1 to 1.
template <typename F>
std::vector<double> over_unit(std::size_t n, const F& f) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = f(-1 + 2 * static_cast<double>(i) / static_cast<double>(n - 1));
  }
  return out;
}

// Sum of a[k] cos(k x) for x from -pi to pi.
std::vector<double> cosines(std::size_t n, std::span<const double> a) {
  return over_unit(n, [a](double t) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * std::cos(static_cast<double>(k) * pi * t);
    return sum;
  });
}
template <const auto& kCoefficients>
std::vector<double> cosine_sum(std::size_t n) {
  return cosines(n, kCoefficients);
}
constexpr std::array kHann = {0.5, 0.5};
constexpr std::array kHamming = {0.54, 1 - 0.54};
constexpr std::array kBlackman = {0.42, 0.50, 0.08};
constexpr std::array kNuttall = {0.3635819, 0.4891775, 0.1365995, 0.0106411};
constexpr std::array kBlackmanHarris = {0.35875, 0.48829, 0.14128, 0.01168};
constexpr std::array kFlatTop = {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368};

std::vector<double> boxcar(std::size_t n) { return std::vector<double>(n, 1.0); }

std::vector<double> triangle(std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto from_edge = static_cast<double>(std::min(i, n - 1 - i) + 1);
    const auto length = static_cast<double>(n);
    out[i] = n % 2 == 0 ? (2 * from_edge - 1) / length : 2 * from_edge / (length + 1);
  }
  return out;
}

std::vector<double> bartlett(std::size_t n) {
  return over_unit(n, [](double t) { return 1 - std::fabs(t); });
}

std::vector<double> parzen(std::size_t n) {
  const auto length = static_cast<double>(n);
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double at = std::fabs(static_cast<double>(i) - (length - 1) / 2);
    const double x = at / (length / 2);
    out[i] = at > (length - 1) / 4 ? 2 * std::pow(1 - x, 3) : 1 - 6 * x * x + 6 * x * x * x;
  }
  return out;
}

std::vector<double> bohman(std::size_t n) {
  std::vector<double> out = over_unit(n, [](double t) {
    const double x = std::fabs(t);
    return (1 - x) * std::cos(pi * x) + std::sin(pi * x) / pi;
  });
  out.front() = out.back() = 0;
  return out;
}

std::vector<double> barthann(std::size_t n) {
  return over_unit(n, [](double t) { return 0.62 - 0.48 * std::fabs(t / 2) + 0.38 * std::cos(pi * t); });
}

std::vector<double> half_sine(std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = std::sin(pi / static_cast<double>(n) * (static_cast<double>(i) + 0.5));
  return out;
}

std::vector<double> exponential(std::size_t n) {
  std::vector<double> out(n);
  const double centre = static_cast<double>(n - 1) / 2;
  for (std::size_t i = 0; i < n; ++i) out[i] = std::exp(-std::fabs(static_cast<double>(i) - centre));
  return out;
}

// Tapers a half of the window, a quarter at either side.
std::vector<double> tukey(std::size_t n) {
  return over_unit(n, [](double t) {
    const double x = std::fabs(t);
    return x <= 0.5 ? 1 : 0.5 * (1 + std::cos(pi * (2 * x - 1)));
  });
}

std::vector<double> lanczos(std::size_t n) {
  return over_unit(n, [](double t) { return t == 0 ? 1 : std::sin(pi * t) / (pi * t); });
}

// Four nearly constant side lobes, 30 dB down, and the value 1 in the middle.
std::vector<double> taylor(std::size_t n) {
  constexpr int kLobes = 4;
  const double a = std::acosh(std::pow(10, 30.0 / 20)) / pi;
  const double s2 = kLobes * kLobes / (a * a + std::pow(kLobes - 0.5, 2));
  std::array<double, kLobes - 1> terms{};
  for (int m = 1; m < kLobes; ++m) {
    double above = m % 2 == 1 ? 1 : -1;
    double below = 2;
    for (int i = 1; i < kLobes; ++i) {
      above *= 1 - m * m / s2 / (a * a + (i - 0.5) * (i - 0.5));
      if (i != m) below *= 1 - static_cast<double>(m * m) / (i * i);
    }
    terms[static_cast<std::size_t>(m - 1)] = above / below;
  }
  const auto value = [&](double i) {
    double sum = 1;
    for (std::size_t m = 0; m < terms.size(); ++m) {
      const double x = (i - static_cast<double>(n) / 2 + 0.5) / static_cast<double>(n);
      sum += 2 * terms[m] * std::cos(2 * pi * static_cast<double>(m + 1) * x);
    }
    return sum;
  };
  const double scale = 1 / value(static_cast<double>(n - 1) / 2);
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = scale * value(static_cast<double>(i));
  return out;
}

struct Window {
  Formula formula;
  std::array<std::string_view, 5> names;
};
constexpr Window kWindows[] = {
    {boxcar, {"boxcar", "box", "ones", "rect", "rectangular"}},
    {triangle, {"triangle", "triang", "tri"}},
    {bartlett, {"bartlett", "bart", "brt"}},
    {cosine_sum<kHann>, {"hann", "han"}},
    {cosine_sum<kHamming>, {"hamming", "hamm", "ham"}},
    {cosine_sum<kBlackman>, {"blackman", "black", "blk"}},
    {cosine_sum<kNuttall>, {"nuttall", "nutl", "nut"}},
    {cosine_sum<kBlackmanHarris>, {"blackmanharris", "blackharr", "bkh"}},
    {cosine_sum<kFlatTop>, {"flattop", "flat", "flt"}},
    {parzen, {"parzen", "parz", "par"}},
    {bohman, {"bohman", "bman", "bmn"}},
    {barthann, {"barthann", "brthan", "bth"}},
    {half_sine, {"cosine", "halfcosine"}},
    {exponential, {"exponential", "poisson"}},
    {tukey, {"tukey", "tuk"}},
    {lanczos, {"lanczos", "sinc"}},
    {taylor, {"taylor", "taylorwin"}},
};
constexpr std::string_view kWithParameter[] = {"kaiser",
                                               "ksr",
                                               "kaiser_bessel_derived",
                                               "kbd",
                                               "gaussian",
                                               "gauss",
                                               "gss",
                                               "general_cosine",
                                               "general cosine",
                                               "general_gaussian",
                                               "general gaussian",
                                               "general gauss",
                                               "general_gauss",
                                               "ggs",
                                               "general_hamming",
                                               "dpss",
                                               "chebwin",
                                               "cheb"};

Result<const Window*> find_window(std::string_view name) {
  for (const Window& window : kWindows) {
    if (!name.empty() && std::find(window.names.begin(), window.names.end(), name) != window.names.end()) {
      return &window;
    }
  }
  if (std::find(std::begin(kWithParameter), std::end(kWithParameter), name) != std::end(kWithParameter)) {
    return unimplemented("the '{}' window needs a parameter: give the window's values instead", name);
  }
  return invalid_argument("Unknown window type: '{}'", printable(name));
}

}  // namespace

Status check_window(std::string_view name) { return find_window(name).status(); }

Result<std::vector<double>> make_window(std::string_view name, std::size_t length, bool periodic) {
  SHARDWISE_ASSIGN_OR_RETURN(const Window* window, find_window(name));
  if (length <= 1) return std::vector<double>(length, 1.0);
  std::vector<double> out = window->formula(periodic ? length + 1 : length);
  out.resize(length);
  return out;
}

}  // namespace shardwise
