#include <algorithm>

#include "kernels/parallel/parallel_for.h"
#include "kernels/reduce/distance.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& _pdist_forward_out(KernelRuntimeContext& ctx, const Tensor& in, double p, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_pdist_forward.out");

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() == 2, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, p >= 0, InvalidArgument, out);

  // Resize: one distance for each pair of rows.
  const int64_t rows = in.sizes()[0];
  const int64_t pairs = rows * (rows - 1) / 2;
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {&pairs, 1}), InvalidArgument, out);

  // Compute
  const StridedView target(out);
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    constexpr ScalarType kType = CppTypeToScalarType<CTYPE>::value;
    const ConstStridedView view = with_dense_rows(ctx, in, kType);
    const int64_t row_stride = view.strides[0] * view.element_size();
    const int64_t stride = view.strides[1] * view.element_size();
    const int64_t cost = std::max<int64_t>(1, rows * view.sizes[1]);
    parallel_for(0, rows, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        // The pairs of row i follow those of the previous rows.
        char* to = target.data + i * (2 * rows - i - 1) / 2 * target.element_size();
        for (int64_t j = i + 1; j < rows; j += kBlockSize) {
          const int64_t n = std::min(kBlockSize, rows - j);
          CTYPE results[kBlockSize];
          distances({view.dtype, view.data + i * row_stride, 0, stride},
                    {view.dtype, view.data + j * row_stride, row_stride, stride}, view.sizes[1], p, n, results);
          store_block(kType, results, target.dtype, to, target.element_size(), n);
          to += n * target.element_size();
        }
      }
    });
  });
  return out;
}

}  // namespace torch::executor::native
