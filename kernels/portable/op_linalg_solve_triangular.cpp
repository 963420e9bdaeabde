#include <cstdint>

#include "kernels/linalg/matrix.h"
#include "kernels/linalg/triangular.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `matrices` and the right sides have one dtype and fitting sizes. `shape` becomes the shape of the solution.
bool init_solution(const Tensor& matrices, const Tensor& sides, bool left, const Tensor& out, StridedShape& shape) {
  ET_LOG_AND_RETURN_IF_FALSE(has_square_matrices(matrices) && has_matrices(sides));
  ET_LOG_AND_RETURN_IF_FALSE(tensors_have_same_dtype(matrices, sides, out));
  ET_CHECK_OR_RETURN_FALSE(sides.size(sides.dim() - (left ? 2 : 1)) == matrices.size(matrices.dim() - 1),
                           "the sizes of the matrices do not match");
  return broadcast_batches(ConstStridedView(matrices), ConstStridedView(sides), shape);
}

/// Calls `solve(matrix, x)` for each batch element, where `x` has a copy of the right side.
template <typename T, typename Solve>
void solve_each(const Tensor& matrices, const Tensor& sides, const StridedShape& shape, Tensor& out,
                const Solve& solve) {
  const ConstStridedView all_matrices = with_batch_of(ConstStridedView(matrices), shape);
  const ConstStridedView all_sides = with_batch_of(ConstStridedView(sides), shape);
  for (int64_t batch = 0; batch < matrix_count(shape); ++batch) {
    const Matrix<T> x = matrix_of<T>(StridedView(out), batch);
    copy_matrix(matrix_of<T>(all_sides, batch), x);
    solve(matrix_of<T>(all_matrices, batch), x);
  }
}

}  // namespace

Tensor& linalg_solve_triangular_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& right_side, bool upper,
                                    bool left, bool unitriangular, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "linalg_solve_triangular.out");

  // Check
  StridedShape shape;
  ET_KERNEL_CHECK(ctx, init_solution(in, right_side, left, out, shape), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_batch(out, shape, {shape.sizes[shape.rank - 2], shape.sizes[shape.rank - 1]}),
                  InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    solve_each<CTYPE>(in, right_side, shape, out, [=](const Matrix<const CTYPE>& a, const Matrix<CTYPE>& x) {
      if (left) {
        solve_triangular(a, x, upper, unitriangular);
      } else {
        solve_triangular(a.transposed(), x.transposed(), !upper, unitriangular);
      }
    });
  });
  return out;
}

Tensor& cholesky_solve_out(KernelRuntimeContext& ctx, const Tensor& right_side, const Tensor& factor, bool upper,
                           Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "cholesky_solve.out");

  // Check
  StridedShape shape;
  ET_KERNEL_CHECK(ctx, init_solution(factor, right_side, /*left=*/true, out, shape), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_batch(out, shape, {shape.sizes[shape.rank - 2], shape.sizes[shape.rank - 1]}),
                  InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(factor.scalar_type(), ctx, op_name, CTYPE, [&] {
    solve_each<CTYPE>(factor, right_side, shape, out, [=](const Matrix<const CTYPE>& a, const Matrix<CTYPE>& x) {
      const Matrix<const CTYPE> lower = upper ? a.transposed() : a;
      solve_triangular(lower, x, /*upper=*/false, /*unit=*/false);
      solve_triangular(lower.transposed(), x, /*upper=*/true, /*unit=*/false);
    });
  });
  return out;
}

}  // namespace torch::executor::native
