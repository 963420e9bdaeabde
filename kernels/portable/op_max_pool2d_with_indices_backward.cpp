#include "kernels/copy/fill.h"
#include "kernels/images/planes.h"
#include "kernels/images/pooling.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `tensor` has the shape of the pooled `in`.
bool is_pooled(const Tensor& tensor, const Tensor& in, const Pooling& pooling) {
  ET_LOG_AND_RETURN_IF_FALSE(tensor.dim() == in.dim());
  for (int64_t d = 0; d < in.dim() - 2; ++d) {
    ET_LOG_AND_RETURN_IF_FALSE(tensor.sizes()[d] == in.sizes()[d]);
  }
  ET_LOG_AND_RETURN_IF_FALSE(tensor.sizes()[in.dim() - 2] == pooling.h.out_size);
  ET_LOG_AND_RETURN_IF_FALSE(tensor.sizes()[in.dim() - 1] == pooling.w.out_size);
  return true;
}

/// Whether all positions are within a plane of `size` elements, or -1 for no position.
bool positions_are_within(const Tensor& positions, int64_t size) {
  // In memory order, because the tensor is dense.
  const int64_t* const values = positions.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < positions.numel(); ++i) {
    ET_CHECK_OR_RETURN_FALSE(values[i] >= -1 && values[i] < size,
                             "index %lld is out of bounds for a plane of %lld elements",
                             static_cast<long long>(values[i]), static_cast<long long>(size));
  }
  return true;
}

}  // namespace

Tensor& max_pool2d_with_indices_backward_out(KernelRuntimeContext& ctx, const Tensor& grad_out, const Tensor& in,
                                             ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                             ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation, bool ceil_mode,
                                             const Tensor& indices, Tensor& grad_in) {
  ET_DEFINE_OPERATOR_NAME(op_name, "max_pool2d_with_indices_backward.grad_input");

  // Check
  Pooling pooling;
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, grad_in);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(grad_out, in, grad_in), InvalidArgument, grad_in);
  ET_KERNEL_CHECK(ctx, indices.scalar_type() == ScalarType::Long, InvalidArgument, grad_in);
  ET_KERNEL_CHECK(ctx, pooling.init(in, kernel_size, stride, padding, dilation, ceil_mode), InvalidArgument, grad_in);
  ET_KERNEL_CHECK(ctx, is_pooled(grad_out, in, pooling) && is_pooled(indices, in, pooling), InvalidArgument, grad_in);
  ET_KERNEL_CHECK(ctx, positions_are_within(indices, pooling.h.in_size * pooling.w.in_size), InvalidArgument, grad_in);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(grad_in, in), InvalidArgument, grad_in);

  // Compute
  fill(StridedView(grad_in), 0);
  const InputPlanes<int64_t> positions{ConstStridedView(indices)};
  ET_SWITCH_FLOATHBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    const InputPlanes<CTYPE> sources{ConstStridedView(grad_out)};
    const OutputPlanes<CTYPE> targets{StridedView(grad_in)};
    for_each_plane(positions, /*work=*/4, [&](int64_t plane) {
      const auto position_of = positions[plane];
      const auto source = sources[plane];
      const auto target = targets[plane];
      const int64_t width = pooling.w.in_size;
      const bool is_adjacent = target.has_adjacent_rows(width);
      for (int64_t i = 0; i < pooling.h.out_size; ++i) {
        for (int64_t j = 0; j < pooling.w.out_size; ++j) {
          const int64_t position = position_of.at(i, j);
          if (position >= 0) {
            CTYPE& sum = is_adjacent ? target.at(0, position) : target.at(position / width, position % width);
            sum = static_cast<CTYPE>(sum + source.at(i, j));
          }
        }
      }
    });
  });
  return grad_in;
}

}  // namespace torch::executor::native
