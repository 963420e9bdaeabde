#include <limits>
#include <tuple>

#include "kernels/common/dtype.h"
#include "kernels/common/planes.h"
#include "kernels/common/pooling.h"
#include "kernels/common/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The largest of each window, the first of several, and its position in the plane. NaN is larger than all. A dilated
/// window may hold nothing but padding.
template <typename T>
void max_pool(const Pooling& pooling, const Plane<T, ConstStridedView>& in, const Plane<T, StridedView>& out,
              const Plane<int64_t, StridedView>& indices) {
  using Limits = std::numeric_limits<T>;
  const PoolingDim& h = pooling.h;
  const PoolingDim& w = pooling.w;
  for (int64_t i = 0; i < h.out_size; ++i) {
    for (int64_t j = 0; j < w.out_size; ++j) {
      int64_t best_y = h.first(i);
      int64_t best_x = w.first(j);
      T best = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      for (int64_t y = h.first(i); y < h.last(i); y += h.dilation) {
        for (int64_t x = w.first(j); x < w.last(j); x += w.dilation) {
          const T value = in.at(y, x);
          if (value > best || value != value) {
            best = value;
            best_y = y;
            best_x = x;
          }
        }
      }
      out.at(i, j) = best;
      indices.at(i, j) = best_y * w.in_size + best_x;
    }
  }
}

}  // namespace

std::tuple<Tensor&, Tensor&> max_pool2d_with_indices_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                         ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                                         ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                                         bool ceil_mode, Tensor& out, Tensor& indices) {
  ET_DEFINE_OPERATOR_NAME(op_name, "max_pool2d_with_indices.out");
  std::tuple<Tensor&, Tensor&> results(out, indices);

  // Check
  Pooling pooling;
  ET_KERNEL_CHECK(ctx, in.scalar_type() != ScalarType::Bool && is_supported(in.scalar_type()), InvalidArgument,
                  results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, indices.scalar_type() == ScalarType::Long, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, pooling.init(in, kernel_size, stride, padding, dilation, ceil_mode), InvalidArgument, results);

  // Resize
  ET_KERNEL_CHECK(ctx, pooling.resize(out, in) && pooling.resize(indices, in), InvalidArgument, results);

  // Compute
  const OutputPlanes<int64_t> places{StridedView(indices)};
  const int64_t window = pooling.h.kernel * pooling.w.kernel;
  ET_SWITCH_REALHBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    const InputPlanes<CTYPE> sources{ConstStridedView(in)};
    const OutputPlanes<CTYPE> targets{StridedView(out)};
    for_each_plane(places, window, [&](int64_t i) { max_pool(pooling, sources[i], targets[i], places[i]); });
  });
  return results;
}

}  // namespace torch::executor::native
