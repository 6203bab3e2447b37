// Sanity beside exactness: moments, distribution functions, and neighbouring shards that know nothing of one another.
// Seeds are fixed, so these pass always or never; limits are five standard errors, or a KS statistic met once in 10^5.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "random/random_testing.h"

namespace shardwise {
namespace {

constexpr std::int64_t kCount = 1 << 20;
using random_testing::values;

struct Moments {
  double mean = 0;
  double variance = 0;
  double skew = 0;
  double kurtosis = 0;
};

Moments moments(const std::vector<float>& x) {
  const auto n = static_cast<double>(x.size());
  Moments out;
  for (const float value : x) out.mean += value / n;
  double third = 0;
  double fourth = 0;
  for (const float value : x) {
    const double d = value - out.mean;
    out.variance += d * d / n;
    third += d * d * d / n;
    fourth += d * d * d * d / n;
  }
  out.skew = third / std::pow(out.variance, 1.5);
  out.kurtosis = fourth / (out.variance * out.variance);
  return out;
}

// Greatest distance between the empirical distribution function and `of`.
double kolmogorov_smirnov(std::vector<float> x, double (*of)(double)) {
  std::sort(x.begin(), x.end());
  double distance = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = of(x[i]);
    distance = std::max({distance, std::fabs(expected - static_cast<double>(i) / n),
                         std::fabs(expected - static_cast<double>(i + 1) / n)});
  }
  return distance * std::sqrt(n);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double truncated_cdf(double x) { return (normal_cdf(x) - normal_cdf(-2)) / (normal_cdf(2) - normal_cdf(-2)); }
double uniform_cdf(double x) { return x; }

// exp(-2 d^2) * 2 = 10^-5
constexpr double kFarthest = 2.47;
constexpr double kStandardError = 1.0 / 1024;  // 1 / sqrt(kCount)

TEST(Statistics, Normal) {
  for (const std::uint32_t seed : {1u, 42u, 123456789u}) {
    const auto x = values<float>(keras_key(seed), random::Normal{}, {kCount}, DType::kFloat32);
    const Moments m = moments(x);
    EXPECT_NEAR(m.mean, 0, 5 * kStandardError);
    EXPECT_NEAR(m.variance, 1, 5 * std::sqrt(2.0) * kStandardError);
    EXPECT_NEAR(m.skew, 0, 5 * std::sqrt(6.0) * kStandardError);
    EXPECT_NEAR(m.kurtosis, 3, 5 * std::sqrt(24.0) * kStandardError);
    EXPECT_LT(kolmogorov_smirnov(x, normal_cdf), kFarthest);
  }
}

TEST(Statistics, TruncatedNormalAndUniform) {
  const auto truncated = values<float>(keras_key(7), random::TruncatedNormal{}, {kCount}, DType::kFloat32);
  EXPECT_LT(kolmogorov_smirnov(truncated, truncated_cdf), kFarthest);
  EXPECT_NEAR(std::sqrt(moments(truncated).variance), 0.87962566103423978, 5 * kStandardError);
  EXPECT_LT(*std::max_element(truncated.begin(), truncated.end()), 2);
  EXPECT_GT(*std::min_element(truncated.begin(), truncated.end()), -2);
  const auto uniform = values<float>(keras_key(7), random::Uniform{}, {kCount}, DType::kFloat32);
  EXPECT_LT(kolmogorov_smirnov(uniform, uniform_cdf), kFarthest);
  EXPECT_LT(*std::max_element(uniform.begin(), uniform.end()), 1);
}

TEST(Statistics, InitializersHaveTheirDeviation) {
  const Shape shape = {1024, 1024};
  EXPECT_NEAR(moments(values<float>(he_normal({.seed = 5}), shape, DType::kFloat32)).variance, 2.0 / 1024,
              5 * std::sqrt(2.0) * kStandardError * 2 / 1024);
  EXPECT_NEAR(moments(values<float>(glorot_uniform({.seed = 5}), shape, DType::kFloat32)).variance, 1.0 / 1024,
              5 * kStandardError / 1024);
}

double correlation(const float* a, const float* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum / static_cast<double>(n);
}

TEST(Statistics, NeighboursAreNotCorrelated) {
  const auto x = values<float>(keras_key(42), random::Normal{}, {kCount}, DType::kFloat32);
  // Shards: halves, quarters, ... of the tensor, each with the next; and each element with those shortly after it.
  for (std::size_t shards = 2; shards <= 64; shards *= 2) {
    const std::size_t size = x.size() / shards;
    for (std::size_t s = 0; s + 1 < shards; ++s) {
      const double limit = 5 / std::sqrt(static_cast<double>(size));
      EXPECT_NEAR(correlation(&x[s * size], &x[(s + 1) * size], size), 0, limit) << s << " of " << shards;
    }
  }
  for (std::size_t lag = 1; lag <= 64; ++lag) {
    EXPECT_NEAR(correlation(x.data(), x.data() + lag, x.size() - lag), 0, 5 * kStandardError) << lag;
  }
  const auto next_seed = values<float>(keras_key(43), random::Normal{}, {kCount}, DType::kFloat32);
  EXPECT_NEAR(correlation(x.data(), next_seed.data(), x.size()), 0, 5 * kStandardError);
}

}  // namespace
}  // namespace shardwise
