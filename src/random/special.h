// erf_inv and what it stands on, as XLA's CPU compiler computes them, operation by operation: the definition that the
// vector code must equal. Coefficients: Giles, Approximating the erfinv function; Cephes (log1p, log); Eigen (erf).
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace shardwise::special {

// Coefficients of erf_inv for w below and above 5, the highest power first.
inline constexpr std::array<float, 9> kErfInvNear = {2.81022636e-08f,  3.43273939e-07f, -3.5233877e-06f,
                                                     -4.39150654e-06f, 0.00021858087f,  -0.00125372503f,
                                                     -0.00417768164f,  0.246640727f,    1.50140941f};
inline constexpr std::array<float, 9> kErfInvFar = {-0.000200214257f, 0.000100950558f, 0.00134934322f,
                                                    -0.00367342844f,  0.00573950773f,  -0.0076224613f,
                                                    0.00943887047f,   1.00167406f,     2.83297682f};
inline constexpr std::array<float, 7> kLog1pNumerator = {4.5270000862445199635215E-5f, 4.9854102823193375972212E-1f,
                                                         6.5787325942061044846969E0f,  2.9911919328553073277375E1f,
                                                         6.0949667980987787057556E1f,  5.7112963590585538103336E1f,
                                                         2.0039553499201281259648E1f};
inline constexpr std::array<float, 7> kLog1pDenominator = {1.0f,
                                                           1.5062909083469192043167E1f,
                                                           8.3047565967967209469434E1f,
                                                           2.2176239823732856465394E2f,
                                                           3.0909872225312059774938E2f,
                                                           2.1642788614495947685003E2f,
                                                           6.0118660497603843919306E1f};
inline constexpr float kLog1pSmall = 0.41421356237309504880f;
inline constexpr std::array<float, 9> kLog = {7.0376836292E-2f,  -1.1514610310E-1f, 1.1676998740E-1f,
                                              -1.2420140846E-1f, 1.4249322787E-1f,  -1.6668057665E-1f,
                                              2.0000714765E-1f,  -2.4999993993E-1f, 3.3333331174E-1f};
inline constexpr float kLogQ1 = -2.12194440e-4f;
inline constexpr float kLogQ2 = 0.693359375f;
inline constexpr float kSqrtHalf = 0.707106781186547524f;

template <std::size_t kCount>
inline float horner(const std::array<float, kCount>& coefficients, float x) {
  float sum = coefficients[0];
  for (std::size_t i = 1; i < kCount; ++i) sum = std::fma(sum, x, coefficients[i]);
  return sum;
}

inline float log_f32(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(std::fmax(x, 0x1p-126f));
  float e = static_cast<float>(static_cast<int>(bits >> 23) - 126);
  float t = std::bit_cast<float>((bits & 0x007fffffu) | 0x3f000000u);
  if (t < kSqrtHalf) {
    e -= 1;
    t = (t - 1) + t;
  } else {
    t -= 1;
  }
  const float x2 = t * t;
  const float x3 = x2 * t;
  const float y0 = std::fma(std::fma(t, kLog[0], kLog[1]), t, kLog[2]);
  const float y1 = std::fma(std::fma(t, kLog[3], kLog[4]), t, kLog[5]);
  const float y2 = std::fma(std::fma(t, kLog[6], kLog[7]), t, kLog[8]);
  const float y = std::fma(std::fma(std::fma(y0, x3, y1), x3, y2), x3, kLogQ1 * e);
  t = t - 0.5f * x2 + y;
  return std::fma(kLogQ2, e, t);
}

inline float log1p_f32(float x) {
  if (!(std::fabs(x) < kLog1pSmall)) return log_f32(x + 1);
  const float x2 = x * x;
  const float quotient = horner(kLog1pNumerator, x) / horner(kLog1pDenominator, x);
  return x + (-0.5f * x2 + (x * x2) * quotient);
}

// erf_inv(x) / x: the product is left to the caller, who may have more to multiply with. |x| < 1.
inline float erf_inv_ratio_f32(float x) {
  const float w = -log1p_f32(x * -x);
  return w < 5 ? horner(kErfInvNear, w - 2.5f) : horner(kErfInvFar, std::sqrt(w) - 3);
}

inline float erf_f32(float x) {
  constexpr std::array<float, 5> kP = {0.00022905065861350646f, 0.0034082910107109506f, 0.050955695062380861f,
                                       0.18520832239976145f, 1.128379143519084f};
  constexpr std::array<float, 7> kQ = {-1.1791602954361697e-7f,
                                       0.000023547966471313185f,
                                       0.0010179625278914885f,
                                       0.014070470171167667f,
                                       0.11098505178285362f,
                                       0.49746925110067538f,
                                       1.0f};
  if (!(std::fabs(x) < 3.832506856900711f)) return std::copysign(1.0f, x);
  const float z = x * x;
  return (x * horner(kP, z)) / horner(kQ, z);
}

}  // namespace shardwise::special
