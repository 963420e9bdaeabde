#include <cstdint>
#include <tuple>

#include "kernels/linalg/matrix.h"
#include "kernels/linalg/triangular.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

std::tuple<Tensor&, Tensor&> linalg_inv_ex_out(KernelRuntimeContext& ctx, const Tensor& in, bool check_errors,
                                               Tensor& inverse, Tensor& info) {
  ET_DEFINE_OPERATOR_NAME(op_name, "linalg_inv_ex.inverse");
  std::tuple<Tensor&, Tensor&> results(inverse, info);

  // Check
  ET_KERNEL_CHECK(ctx, has_square_matrices(in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, inverse), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, info.scalar_type() == ScalarType::Int, InvalidArgument, results);

  // Resize
  const ConstStridedView source(in);
  const int64_t n = in.size(in.dim() - 1);
  ET_KERNEL_CHECK(ctx, resize_to_batch(inverse, source, {n, n}), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to_batch(info, source, {}), InvalidArgument, results);

  // Compute
  bool is_singular = false;
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    CTYPE* const factors = allocate_elements<CTYPE>(ctx, n * n);
    int32_t* const pivots = allocate_elements<int32_t>(ctx, n);
    if (factors == nullptr || pivots == nullptr) {
      return;
    }
    const Matrix<CTYPE> lu = column_matrix(factors, n, n);
    const StridedView target(inverse);
    const StridedView infos(info);
    for (int64_t batch = 0; batch < matrix_count(source); ++batch) {
      copy_matrix(matrix_of<CTYPE>(source, batch), lu);
      const int32_t zero = factor_lu(lu, pivots, 1);
      *batch_element<int32_t>(infos, batch, 0) = zero;
      is_singular |= zero != 0;
      const Matrix<CTYPE> result = matrix_of<CTYPE>(target, batch);
      set_identity(result);
      solve_factored(lu, pivots, 1, /*transposed=*/false, result);
    }
  });
  ET_KERNEL_CHECK_MSG(ctx, !check_errors || !is_singular, InvalidArgument, results, "a matrix is singular");
  return results;
}

}  // namespace torch::executor::native
