#include <cstdint>
#include <limits>

#include "kernels/common/block.h"
#include "kernels/common/dims.h"
#include "kernels/common/lines.h"
#include "kernels/common/resize.h"
#include "kernels/common/vector_math.h"
#include "kernels/common/vectorize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
void log_softmax(Line<T>& line) {
  // The largest exponent becomes 0, so that no exponential overflows.
  LaneReduction<T> max(-std::numeric_limits<T>::infinity());
  const auto larger = [](T a, T b) { return a < b ? b : a; };
  line.read([&](const T* x, int64_t, int64_t n) { max.add(n, x, larger); });
  const T largest = max.result(larger);

  LaneReduction<T> sum(0);
  const auto plus = [](T a, T b) { return a + b; };
  line.write([largest](T* x, int64_t, int64_t n) { vectorized_for(n, [=](int64_t i) { x[i] -= largest; }); },
             [&](const T* x, int64_t, int64_t n) {
               T powers[kBlockSize];
               vectorized_for(n, [&](int64_t i) KERNELS_ALWAYS_INLINE { powers[i] = math::exp(x[i]); });
               sum.add(n, powers, plus);
             },
             [&](T* x, int64_t, int64_t n) {
               const T log_of_sum = math::log(sum.result(plus));
               vectorized_for(n, [=](int64_t i) { x[i] -= log_of_sum; });
             });
}

}  // namespace

Tensor& log_softmax_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool half_to_float, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_log_softmax.out");

  // Check
  ET_KERNEL_CHECK(ctx, !half_to_float, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()) && isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                        [&] { apply_to_lines<CTYPE>(&log_softmax<CTYPE>, in, dim, out); });
  return out;
}

}  // namespace torch::executor::native
