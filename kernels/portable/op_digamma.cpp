#include <cmath>
#include <limits>

#include "kernels/elementwise/unary_float.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The derivative of the logarithm of the gamma function for x > 0.
double positive_digamma(double x) {
  // The asymptotic series needs a large x, which the recurrence psi(x) = psi(x + 1) - 1 / x gives.
  double sum = 0;
  for (; x < 10; ++x) {
    sum -= 1 / x;
  }
  if (x >= 1e17) {
    return std::log(x);
  }
  // The Bernoulli numbers B(2k) divided by 2k.
  constexpr double kFactors[] = {1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760, 1. / 12};
  const double z = 1 / (x * x);
  double series = 0;
  for (int k = 6; k >= 0; --k) {
    series = series * z + kFactors[k];
  }
  return sum + std::log(x) - 0.5 / x - z * series;
}

double digamma(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x == 0) {
    // The sign of the pole is that of -1 / x.
    return std::copysign(std::numeric_limits<double>::infinity(), -x);
  }
  if (x > 0 || std::isnan(x)) {
    return std::isnan(x) ? x : positive_digamma(x);
  }
  const double whole = std::trunc(x);
  if (x == whole) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  // Reflection: psi(x) = psi(1 - x) - pi / tan(pi x).
  return positive_digamma(1 - x) - kPi / std::tan(kPi * (x - whole));
}

}  // namespace

Tensor& digamma_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "digamma.out");
  return unary_float_out<op_name>(ctx, in, out, [](auto x) { return static_cast<decltype(x)>(digamma(x)); });
}

}  // namespace torch::executor::native
