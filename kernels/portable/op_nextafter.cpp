#include <cmath>
#include <cstdint>

#include "kernels/elementwise/elementwise.h"
#include "kernels/tensors/promotion.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

float next_float(float from, float to) { return std::nextafter(from, to); }
double next_float(double from, double to) { return std::nextafter(from, to); }
/// For Half and BFloat16.
template <typename T>
T next_float(T from, T to) {
  const float start = from, end = to;
  if (std::isnan(start) || std::isnan(end)) {
    return T(start + end);
  }
  if (start == end) {
    return from;
  }
  if (start == 0) {
    return T(end > 0 ? 0x0001 : 0x8001, T::from_bits());
  }
  // Away from 0, the bits count up.
  const bool is_larger = (end > start) == (start > 0);
  return T(static_cast<uint16_t>(from.x + (is_larger ? 1 : -1)), T::from_bits());
}

}  // namespace

Tensor& nextafter_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "nextafter.out");

  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(common_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOATHBF16_TYPES(common_type, ctx, op_name, CTYPE, [&] {
    elementwise([](CTYPE from, CTYPE to) -> CTYPE { return next_float(from, to); }, out, a, b);
  });
  return out;
}

}  // namespace torch::executor::native
