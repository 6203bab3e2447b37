// erf_inv and what it stands on in float64, as XLA's CPU compiler computes them but for log, which is the C library's
// here. Coefficients: Giles, Approximating the erfinv function; Cephes (log1p).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace shardwise::special {

inline constexpr std::array<double, 23> kErfInvNear64 = {
    -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,  1.115787767802518096e-17,
    -1.333171662854620906e-16,  2.0972767875968561637e-17,  6.6376381343583238325e-15,  -4.0545662729752068639e-14,
    -8.1519341976054721522e-14, 2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08, 4.2347877827932403518e-07,
    -1.3654692000834678645e-06, -1.3882523362786468719e-05, 0.0001867342080340571352,   -0.00074070253416626697512,
    -0.0060336708714301490533,  0.24015818242558961693,     1.6536545626831027356};
inline constexpr std::array<double, 19> kErfInvMiddle64 = {
    2.2137376921775787049e-09,  9.0756561938885390979e-08, -2.7517406297064545428e-07, 1.8239629214389227755e-08,
    1.5027403968909827627e-06,  -4.013867526981545969e-06, 2.9234449089955446044e-06,  1.2475304481671778723e-05,
    -4.7318229009055733981e-05, 6.8284851459573175448e-05, 2.4031110387097893999e-05,  -0.0003550375203628474796,
    0.00095328937973738049703,  -0.0016882755560235047313, 0.0024914420961078508066,   -0.0037512085075692412107,
    0.005370914553590063617,    1.0052589676941592334,     3.0838856104922207635};
inline constexpr std::array<double, 17> kErfInvFar64 = {
    -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,  -3.7894654401267369937e-09,
    7.6157012080783393804e-09,  -1.4960026627149240478e-08, 2.9147953450901080826e-08,  -6.7711997758452339498e-08,
    2.2900482228026654717e-07,  -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
    7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026, 1.0103004648645343977,
    4.8499064014085844221};

template <std::size_t kCount>
inline double horner(const std::array<double, kCount>& coefficients, double x) {
  double sum = coefficients[0];
  for (std::size_t i = 1; i < kCount; ++i) sum = std::fma(sum, x, coefficients[i]);
  return sum;
}

inline constexpr std::array<double, 7> kLog1pNumerator64 = {
    4.5270000862445199635215E-5, 4.9854102823193375972212E-1, 6.5787325942061044846969E0, 2.9911919328553073277375E1,
    6.0949667980987787057556E1,  5.7112963590585538103336E1,  2.0039553499201281259648E1};
inline constexpr std::array<double, 7> kLog1pDenominator64 = {1.0,
                                                              1.5062909083469192043167E1,
                                                              8.3047565967967209469434E1,
                                                              2.2176239823732856465394E2,
                                                              3.0909872225312059774938E2,
                                                              2.1642788614495947685003E2,
                                                              6.0118660497603843919306E1};
inline constexpr double kLog1pSmall64 = 0.41421356237309504880;

inline double log1p_f64(double x) {
  if (!(std::fabs(x) < kLog1pSmall64)) return std::log(x + 1);
  const double x2 = x * x;
  const double quotient = horner(kLog1pNumerator64, x) / horner(kLog1pDenominator64, x);
  return x + (-0.5 * x2 + (x * x2) * quotient);
}

// erf_inv(x) / x for |x| < 1.
inline double erf_inv_ratio_f64(double x) {
  const double w = -log1p_f64(x * -x);
  if (w < 6.25) return horner(kErfInvNear64, w - 3.125);
  if (w < 16) return horner(kErfInvMiddle64, std::sqrt(w) - 3.25);
  return horner(kErfInvFar64, std::sqrt(w) - 5);
}

}  // namespace shardwise::special
