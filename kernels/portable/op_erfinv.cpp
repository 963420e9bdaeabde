#include <cmath>
#include <limits>

#include "kernels/elementwise/unary_float.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The inverse of erf: a rational approximation, and two steps of Newton's method.
double inverse_erf(double y) {
  const double size = std::fabs(y);
  if (!(size < 1)) {
    return size == 1 ? std::copysign(std::numeric_limits<double>::infinity(), y)
                     : std::numeric_limits<double>::quiet_NaN();
  }
  constexpr double kTwoOverRootPi = 1.12837916709551257390;
  double x;
  if (size <= 0.7) {
    const double z = size * size;
    const double numerator = ((-0.140543331 * z + 0.914624893) * z - 1.645349621) * z + 0.886226899;
    const double denominator = (((0.012229801 * z - 0.329097515) * z + 1.442710462) * z - 2.118377725) * z + 1;
    x = size * numerator / denominator;
    for (int step = 0; step < 2; ++step) {
      x -= (std::erf(x) - size) / (kTwoOverRootPi * std::exp(-x * x));
    }
  } else {
    // Near 1, erfc has the digits that erf lacks.
    const double rest = 1 - size;
    const double z = std::sqrt(-std::log(rest / 2));
    const double numerator = ((1.641345311 * z + 3.429567803) * z - 1.624906493) * z - 1.970840454;
    const double denominator = (1.637067800 * z + 3.543889200) * z + 1;
    x = numerator / denominator;
    for (int step = 0; step < 2; ++step) {
      x += (std::erfc(x) - rest) / (kTwoOverRootPi * std::exp(-x * x));
    }
  }
  return std::copysign(x, y);
}

}  // namespace

Tensor& erfinv_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "erfinv.out");
  return unary_float_out<op_name>(ctx, in, out, [](auto x) { return static_cast<decltype(x)>(inverse_erf(x)); });
}

}  // namespace torch::executor::native
