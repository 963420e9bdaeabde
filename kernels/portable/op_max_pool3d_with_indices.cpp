#include <cstdint>
#include <tuple>

#include "kernels/images/pooling.h"
#include "kernels/images/volumes.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

std::tuple<Tensor&, Tensor&> max_pool3d_with_indices_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                         ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                                         ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                                         bool ceil_mode, Tensor& out, Tensor& indices) {
  ET_DEFINE_OPERATOR_NAME(op_name, "max_pool3d_with_indices.out");
  std::tuple<Tensor&, Tensor&> results(out, indices);

  // Check
  PoolingDim dims[3];
  ET_KERNEL_CHECK(ctx, in.scalar_type() != ScalarType::Bool && is_supported(in.scalar_type()), InvalidArgument,
                  results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, indices.scalar_type() == ScalarType::Long, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, init_pooling(dims, 3, in, kernel_size, stride, padding, dilation, ceil_mode), InvalidArgument,
                  results);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_pooled(out, in, dims, 3) && resize_pooled(indices, in, dims, 3), InvalidArgument,
                  results);

  // Compute
  const int64_t work = dims[0].kernel * dims[1].kernel * dims[2].kernel;
  ET_SWITCH_REALHBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    max_volumes<CTYPE>(
        as_volumes(ConstStridedView(in), 3), as_volumes(StridedView(out), 3), as_volumes(StridedView(indices), 3), work,
        [&](int64_t d, int64_t i) { return Window{dims[d].first(i), dims[d].last(i), dims[d].dilation}; });
  });
  return results;
}

}  // namespace torch::executor::native
