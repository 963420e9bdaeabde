#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "kernels/linalg/householder.h"
#include "kernels/linalg/matrix.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

std::tuple<Tensor&, Tensor&> linalg_qr_out(KernelRuntimeContext& ctx, const Tensor& in, std::string_view mode,
                                           Tensor& q, Tensor& r) {
  ET_DEFINE_OPERATOR_NAME(op_name, "linalg_qr.out");
  std::tuple<Tensor&, Tensor&> results(q, r);

  // Check
  const bool has_q = mode != "r";
  ET_KERNEL_CHECK(ctx, mode == "reduced" || mode == "complete" || mode == "r", InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, has_matrices(in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, q, r), InvalidArgument, results);

  // Resize
  const ConstStridedView source(in);
  const int64_t rows = in.size(in.dim() - 2);
  const int64_t columns = in.size(in.dim() - 1);
  const int64_t least = std::min(rows, columns);
  const int64_t kept = mode == "complete" ? rows : least;
  ET_KERNEL_CHECK(ctx, has_q ? resize_to_batch(q, source, {rows, kept}) : resize_to_size(q, int64_t{0}),
                  InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to_batch(r, source, {kept, columns}), InvalidArgument, results);

  // Compute
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    CTYPE* const memory = allocate_elements<CTYPE>(ctx, rows * columns);
    CTYPE* const factors = allocate_elements<CTYPE>(ctx, least);
    if (memory == nullptr || factors == nullptr) {
      return;
    }
    const Matrix<CTYPE> vectors = column_matrix(memory, rows, columns);
    for (int64_t batch = 0; batch < matrix_count(source); ++batch) {
      copy_matrix(matrix_of<CTYPE>(source, batch), vectors);
      factor_qr(vectors, factors);
      const Matrix<CTYPE> upper = matrix_of<CTYPE>(StridedView(r), batch);
      copy_matrix(vectors, upper);
      clear_below(upper);
      if (has_q) {
        form_q(vectors, factors, matrix_of<CTYPE>(StridedView(q), batch));
      }
    }
  });
  return results;
}

}  // namespace torch::executor::native
