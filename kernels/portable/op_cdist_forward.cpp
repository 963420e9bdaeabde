#include <algorithm>
#include <optional>

#include "kernels/common/broadcast.h"
#include "kernels/common/convert.h"
#include "kernels/common/distance.h"
#include "kernels/common/loop_nest.h"
#include "kernels/common/parallel_for.h"
#include "kernels/common/resize.h"
#include "kernels/common/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `tensor` holds matrices, whose rows have distances.
bool has_rows(const Tensor& tensor) { return isFloatingType(tensor.scalar_type()) && tensor.dim() >= 2; }

/// Resizes `out` to a matrix, of rows of `x1` by rows of `x2`, for each pair of matrices, which broadcast.
bool resize_to_distances(Tensor& out, const Tensor& x1, const Tensor& x2) {
  const auto batch_of = [](const Tensor& x) {
    return ConstStridedView(x).select(x.dim() - 1, 0).select(x.dim() - 2, 0);
  };
  StridedShape shape;
  ET_LOG_AND_RETURN_IF_FALSE(broadcast_shapes(batch_of(x1), batch_of(x2), shape));
  shape.sizes[shape.rank] = x1.sizes()[x1.dim() - 2];
  shape.sizes[shape.rank + 1] = x2.sizes()[x2.dim() - 2];
  return resize_to_size(out, {shape.sizes, static_cast<size_t>(shape.rank + 2)});
}

/// Views of out's shape of the first elements of the rows of `x1` and of `x2`.
ConstStridedView rows_of_first(const Tensor& x1, const StridedShape& out) {
  return ConstStridedView(x1).select(x1.dim() - 1, 0).unsqueeze(x1.dim() - 1).broadcast_to(out);
}
ConstStridedView rows_of_second(const Tensor& x2, const StridedShape& out) {
  return ConstStridedView(x2).select(x2.dim() - 1, 0).unsqueeze(x2.dim() - 2).broadcast_to(out);
}

}  // namespace

Tensor& _cdist_forward_out(KernelRuntimeContext& ctx, const Tensor& x1, const Tensor& x2, double p,
                           std::optional<int64_t> compute_mode, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_cdist_forward.out");

  // Check: every mode computes each distance by itself.
  ET_KERNEL_CHECK(ctx, has_rows(x1) && has_rows(x2), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(x1, x2, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, x1.sizes()[x1.dim() - 1] == x2.sizes()[x2.dim() - 1], InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, p >= 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, compute_mode.value_or(0) >= 0 && compute_mode.value_or(0) <= 2, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_distances(out, x1, x2), InvalidArgument, out);

  // Compute
  const StridedView target(out);
  const ConstStridedView a = rows_of_first(x1, target);
  const ConstStridedView b = rows_of_second(x2, target);
  const int64_t size = x1.sizes()[x1.dim() - 1];
  const int64_t a_stride = ConstStridedView(x1).strides[x1.dim() - 1] * a.element_size();
  const int64_t b_stride = ConstStridedView(x2).strides[x2.dim() - 1] * b.element_size();
  const LoopNest nest = LoopNest::over(target, a, b);
  ET_SWITCH_FLOAT_TYPES(compute_type(x1.scalar_type()), ctx, op_name, CTYPE, [&] {
    nest.parallel_for_each_row(std::max<int64_t>(1, kGrain / std::max<int64_t>(1, size)),
                               [&](const int64_t* offsets, int64_t n) {
                                 for (int64_t i = 0; i < n; ++i) {
                                   const Row x{a.dtype, a.data + offsets[1] + i * nest.row_stride(1), a_stride};
                                   const Row y{b.dtype, b.data + offsets[2] + i * nest.row_stride(2), b_stride};
                                   const CTYPE result = distance<CTYPE>(x, y, size, p);
                                   store_block(CppTypeToScalarType<CTYPE>::value, &result, target.dtype,
                                               target.data + offsets[0] + i * nest.row_stride(0), sizeof(CTYPE), 1);
                                 }
                               });
  });
  return out;
}

}  // namespace torch::executor::native
