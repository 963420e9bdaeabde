#include <cmath>

#include "kernels/elementwise/unary_float.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The modified Bessel function of the first kind and of order 0, divided by e^|x|, for x >= 0.
double scaled_bessel_i0(double x) {
  constexpr double kEpsilon = 1e-17;
  if (x < 20) {
    // The sum of (x / 2)^2k / k!^2. All terms are positive.
    double sum = 1, term = 1;
    for (int k = 1; term > sum * kEpsilon; ++k) {
      const double factor = x / (2 * k);
      term *= factor * factor;
      sum += term;
    }
    return sum * std::exp(-x);
  }
  // The asymptotic series, whose terms become smaller than the rounding error before they grow again.
  constexpr double kTwoPi = 6.28318530717958647693;
  double sum = 1, term = 1;
  for (int k = 1; term > sum * kEpsilon && k < 2 * x; ++k) {
    term *= (2 * k - 1) * (2 * k - 1) / (8 * k * x);
    sum += term;
  }
  return sum / std::sqrt(kTwoPi * x);
}

/// The result is infinite where e^|x| is, and NaN for infinities, as in PyTorch.
template <typename T>
T bessel_i0(T x) {
  const T size = std::fabs(x);
  if (!(size < 1e6)) {
    return std::exp(size) - (std::isinf(size) ? size : 0);
  }
  return std::isinf(std::exp(size)) ? std::exp(size)
                                    : static_cast<T>(scaled_bessel_i0(size) * std::exp(static_cast<double>(size)));
}

}  // namespace

Tensor& i0_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "i0.out");
  return unary_float_out<op_name>(ctx, in, out, [](auto x) { return bessel_i0(x); });
}

}  // namespace torch::executor::native
