#include <cmath>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "kernels/linalg/jacobi.h"
#include "kernels/linalg/matrix.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

std::tuple<Tensor&, Tensor&> linalg_eigh_out(KernelRuntimeContext& ctx, const Tensor& in, std::string_view triangle,
                                             bool compute_v, Tensor& values, Tensor& vectors) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_linalg_eigh.eigenvalues");
  std::tuple<Tensor&, Tensor&> results(values, vectors);

  // Check
  const bool is_upper = triangle == "U" || triangle == "u";
  ET_KERNEL_CHECK(ctx, is_upper || triangle == "L" || triangle == "l", InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, has_square_matrices(in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, values, vectors), InvalidArgument, results);

  // Resize
  const ConstStridedView source(in);
  const int64_t n = in.size(in.dim() - 1);
  ET_KERNEL_CHECK(ctx, resize_to_batch(values, source, {n}), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, compute_v ? resize_like(vectors, in) : resize_to_size(vectors, int64_t{0}), InvalidArgument,
                  results);

  // Compute
  bool is_finite = true;
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    CTYPE* const memory = allocate_elements<CTYPE>(ctx, n * n);
    CTYPE* const found = allocate_elements<CTYPE>(ctx, n);
    if (memory == nullptr || found == nullptr) {
      return;
    }
    const Matrix<CTYPE> matrix = column_matrix(memory, n, n);
    for (int64_t batch = 0; batch < matrix_count(source); ++batch) {
      const Matrix<const CTYPE> given = matrix_of<CTYPE>(source, batch);
      const Matrix<const CTYPE> lower = is_upper ? given.transposed() : given;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          matrix(i, j) = matrix(j, i) = lower(i, j);
        }
      }
      if (!std::isfinite(largest_size(matrix))) {
        is_finite = false;
        return;
      }
      const Matrix<CTYPE> columns = compute_v ? matrix_of<CTYPE>(StridedView(vectors), batch) : matrix;
      symmetric_eigen(matrix, found, compute_v ? &columns : nullptr);
      const StridedView target(values);
      CTYPE* const to = batch_element<CTYPE>(target, batch, 1);
      for (int64_t k = 0; k < n; ++k) {
        to[k * target.strides[target.rank - 1]] = found[k];
      }
    }
  });
  ET_KERNEL_CHECK_MSG(ctx, is_finite, InvalidArgument, results, "a matrix has an infinity or a NaN");
  return results;
}

}  // namespace torch::executor::native
