#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/dtype.h"
#include "kernels/views/broadcast.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The closeness of two elements. Close elements are equal elements, NaNs with `equal_nan`, and elements with a finite
/// difference of at most `atol + rtol * |b|`.
struct Closeness {
  double rtol;
  double atol;
  bool equal_nan;

  template <typename T>
  bool is_close(T a, T b) const {
    if (a == b || (equal_nan && a != a && b != b)) {
      return true;
    }
    const double difference = std::is_integral_v<T> ? std::abs(static_cast<double>(a) - static_cast<double>(b))
                                                    : static_cast<double>(std::abs(a - b));
    return std::isfinite(difference) && difference <= atol + std::abs(rtol * static_cast<double>(b));
  }

  /// Whether all elements of two views with the same shape are close.
  template <typename T>
  bool are_close(const ConstStridedView& a, const ConstStridedView& b) const {
    constexpr ScalarType kType = CppTypeToScalarType<T>::value;
    const LoopNest nest = LoopNest::over(a, b);
    bool all = true;
    nest.for_each_row(0, nest.numel(), [&](const int64_t* offsets, int64_t row_size) {
      for (int64_t start = 0; all && start < row_size; start += kBlockSize) {
        const int64_t n = std::min(kBlockSize, row_size - start);
        T x[kBlockSize];
        T y[kBlockSize];
        load_block(a.dtype, a.data + offsets[0] + start * nest.row_stride(0), nest.row_stride(0), kType, x, n);
        load_block(b.dtype, b.data + offsets[1] + start * nest.row_stride(1), nest.row_stride(1), kType, y, n);
        for (int64_t i = 0; all && i < n; ++i) {
          all = is_close(x[i], y[i]);
        }
      }
    });
    return all;
  }
};

}  // namespace

Tensor& allclose_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, double rtol, double atol,
                     bool equal_nan, bool /*dummy_param*/, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "allclose.out");

  // Check: as in ExecuTorch, `out` may have any shape with one element.
  StridedShape shape;
  ET_KERNEL_CHECK(ctx, is_supported(a.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(a, b), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, rtol >= 0 && atol >= 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == ScalarType::Bool && out.numel() == 1, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, broadcast_shapes(ConstStridedView(a), ConstStridedView(b), shape), InvalidArgument, out);

  // Compute
  const Closeness closeness{rtol, atol, equal_nan};
  ET_SWITCH_REALB_TYPES(compute_type(a.scalar_type()), ctx, op_name, CTYPE, [&] {
    *out.mutable_data_ptr<bool>() =
        closeness.are_close<CTYPE>(ConstStridedView(a).broadcast_to(shape), ConstStridedView(b).broadcast_to(shape));
  });
  return out;
}

Tensor allclose_tensor(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& /*b*/, double /*rtol*/,
                       double /*atol*/, bool /*equal_nan*/, bool /*dummy_param*/) {
  // Not supported: there is no memory for a new tensor. Programs call the out variant.
  ET_KERNEL_CHECK(ctx, false, NotSupported, a);
  return a;
}

}  // namespace torch::executor::native
