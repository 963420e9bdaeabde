#include <cmath>

#include "kernels/elementwise/unary_float.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The logarithm of the absolute value of the gamma function.
double log_gamma(double x) {
#if defined(__GLIBC__) || defined(__ANDROID__) || defined(__APPLE__)
  // std::lgamma writes the sign to a global variable, which threads share.
  int sign;
  return lgamma_r(x, &sign);
#else
  return std::lgamma(x);
#endif
}

}  // namespace

Tensor& lgamma_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "lgamma.out");
  return unary_float_out<op_name>(ctx, in, out, [](auto x) { return static_cast<decltype(x)>(log_gamma(x)); });
}

}  // namespace torch::executor::native
