#include <cstdint>
#include <tuple>

#include "kernels/linalg/matrix.h"
#include "kernels/linalg/triangular.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Factors each matrix of `in` into `out`, and stores the results of `factor_cholesky` in `info`, unless it is null.
/// Returns whether all matrices are positive definite.
template <typename T>
bool factor_each(const Tensor& in, bool upper, Tensor& out, Tensor* info) {
  bool are_positive = true;
  const ConstStridedView source(in);
  for (int64_t batch = 0; batch < matrix_count(source); ++batch) {
    const Matrix<const T> from = matrix_of<T>(source, batch);
    const Matrix<T> to = matrix_of<T>(StridedView(out), batch);
    copy_matrix(from, to);
    // The upper triangle is the lower one of the transposed matrix.
    const Matrix<T> lower = upper ? to.transposed() : to;
    clear_below(lower.transposed());
    const int32_t failed = factor_cholesky(lower);
    are_positive &= failed == 0;
    if (info != nullptr) {
      *batch_element<int32_t>(StridedView(*info), batch, 0) = failed;
    }
  }
  return are_positive;
}

}  // namespace

std::tuple<Tensor&, Tensor&> linalg_cholesky_ex_out(KernelRuntimeContext& ctx, const Tensor& in, bool upper,
                                                    bool check_errors, Tensor& out, Tensor& info) {
  ET_DEFINE_OPERATOR_NAME(op_name, "linalg_cholesky_ex.L");
  std::tuple<Tensor&, Tensor&> results(out, info);

  // Check
  ET_KERNEL_CHECK(ctx, has_square_matrices(in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, info.scalar_type() == ScalarType::Int, InvalidArgument, results);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in) && resize_to_batch(info, ConstStridedView(in), {}), InvalidArgument,
                  results);

  // Compute
  bool are_positive = true;
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE,
                        [&] { are_positive = factor_each<CTYPE>(in, upper, out, &info); });
  ET_KERNEL_CHECK_MSG(ctx, !check_errors || are_positive, InvalidArgument, results,
                      "a matrix is not positive definite");
  return results;
}

Tensor& cholesky_out(KernelRuntimeContext& ctx, const Tensor& in, bool upper, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "cholesky.out");

  // Check
  ET_KERNEL_CHECK(ctx, has_square_matrices(in), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  bool are_positive = true;
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE,
                        [&] { are_positive = factor_each<CTYPE>(in, upper, out, nullptr); });
  ET_KERNEL_CHECK_MSG(ctx, are_positive, InvalidArgument, out, "a matrix is not positive definite");
  return out;
}

}  // namespace torch::executor::native
