#include <algorithm>
#include <optional>

#include "kernels/parallel/parallel_for.h"
#include "kernels/reduce/distance.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/broadcast.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `tensor` is a batch of floating-point matrices.
bool has_rows(const Tensor& tensor) { return isFloatingType(tensor.scalar_type()) && tensor.dim() >= 2; }

/// Resizes `out` to a batch of matrices: (rows of `x1`) x (rows of `x2`) for each pair of matrices. The batches
/// broadcast.
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

/// A view of the first elements of the rows of `x`, with a new dimension `d`, broadcast to the shape of `out`.
ConstStridedView first_elements(const ConstStridedView& x, int64_t d, const StridedShape& out) {
  return x.select(x.rank - 1, 0).unsqueeze(d).broadcast_to(out);
}

}  // namespace

Tensor& _cdist_forward_out(KernelRuntimeContext& ctx, const Tensor& x1, const Tensor& x2, double p,
                           std::optional<int64_t> compute_mode, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_cdist_forward.out");

  // Check: all modes compute the distances one by one.
  ET_KERNEL_CHECK(ctx, has_rows(x1) && has_rows(x2), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(x1, x2, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, x1.sizes()[x1.dim() - 1] == x2.sizes()[x2.dim() - 1], InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, p >= 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, compute_mode.value_or(0) >= 0 && compute_mode.value_or(0) <= 2, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_distances(out, x1, x2), InvalidArgument, out);

  // Compute
  const StridedView target(out);
  ET_SWITCH_FLOAT_TYPES(compute_type(x1.scalar_type()), ctx, op_name, CTYPE, [&] {
    constexpr ScalarType kType = CppTypeToScalarType<CTYPE>::value;
    const ConstStridedView dense1 = with_dense_rows(ctx, x1, kType);
    const ConstStridedView dense2 = with_dense_rows(ctx, x2, kType);
    const int64_t size = dense1.sizes[dense1.rank - 1];
    const ConstStridedView a = first_elements(dense1, dense1.rank - 1, target);
    const ConstStridedView b = first_elements(dense2, dense2.rank - 2, target);
    const LoopNest nest = LoopNest::over(target, a, b);
    const auto rows_at = [&](const ConstStridedView& dense, int64_t k, int64_t offset) {
      return Rows{dense.dtype, dense.data + offset, nest.row_stride(k),
                  dense.strides[dense.rank - 1] * dense.element_size()};
    };
    nest.parallel_for_each_row(
        std::max<int64_t>(1, kGrain / std::max<int64_t>(1, size)), [&](const int64_t* offsets, int64_t row_size) {
          for (int64_t start = 0; start < row_size; start += kBlockSize) {
            const int64_t n = std::min(kBlockSize, row_size - start);
            CTYPE results[kBlockSize];
            distances(rows_at(dense1, 1, offsets[1] + start * nest.row_stride(1)),
                      rows_at(dense2, 2, offsets[2] + start * nest.row_stride(2)), size, p, n, results);
            store_block(kType, results, target.dtype, target.data + offsets[0] + start * nest.row_stride(0),
                        nest.row_stride(0), n);
          }
        });
  });
  return out;
}

}  // namespace torch::executor::native
