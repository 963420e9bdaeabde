#pragma once

#include <cstdint>

#include "kernels/images/adaptive_pooling.h"
#include "kernels/images/volumes.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The largest element of each window of an adaptive pooling of the last `count` dimensions, and its position.
template <ET_OPERATOR_NAME_TYPE op_name>
void adaptive_max_pool_out(KernelRuntimeContext& ctx, const Tensor& in, const ArrayRef<int64_t>& output_size,
                           int64_t count, Tensor& out, Tensor& indices) {
  // Check
  AdaptivePooling pooling;
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, indices.scalar_type() == ScalarType::Long, InvalidArgument, );
  ET_KERNEL_CHECK(ctx, pooling.init(in, output_size, count), InvalidArgument, );

  // Resize
  ET_KERNEL_CHECK(ctx, pooling.resize(out, in, count) && pooling.resize(indices, in, count), InvalidArgument, );

  // Compute
  ET_SWITCH_FLOATHBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    max_volumes<CTYPE>(as_volumes(ConstStridedView(in), count), as_volumes(StridedView(out), count),
                       as_volumes(StridedView(indices), count), pooling.work(),
                       [&](int64_t d, int64_t i) { return pooling.window(d, i); });
  });
}

}  // namespace rules_executorch::kernels
