#include <algorithm>
#include <optional>

#include "kernels/common/dtype.h"
#include "kernels/common/planes.h"
#include "kernels/common/pooling.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& avg_pool2d_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> kernel_size,
                       ArrayRef<int64_t> stride, ArrayRef<int64_t> padding, bool ceil_mode, bool count_include_pad,
                       std::optional<int64_t> divisor_override, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "avg_pool2d.out");

  // Check
  const ScalarType type = in.scalar_type();
  const int64_t dilation = 1;
  Pooling pooling;
  ET_KERNEL_CHECK(ctx, isFloatingType(type) || type == ScalarType::Long, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, divisor_override.value_or(1) != 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, pooling.init(in, kernel_size, stride, padding, {&dilation, 1}, ceil_mode), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, pooling.resize(out, in), InvalidArgument, out);

  // Compute
  const PoolingDim& h = pooling.h;
  const PoolingDim& w = pooling.w;
  const auto size_with_padding = [](const PoolingDim& dim, int64_t i) {
    return std::min(dim.begin(i) + dim.kernel, dim.in_size + dim.padding) - dim.begin(i);
  };
  ET_SWITCH_FLOAT_TYPES_AND(Long, compute_type(type), ctx, op_name, CTYPE, [&] {
    for_each_plane<CTYPE>(in, out, h.kernel * w.kernel, [&](const auto& source, const auto& target) {
      for (int64_t i = 0; i < h.out_size; ++i) {
        const int64_t top = h.first(i);
        const int64_t bottom = h.last(i);
        for (int64_t j = 0; j < w.out_size; ++j) {
          const int64_t left = w.first(j);
          const int64_t right = w.last(j);
          CTYPE sum = 0;
          for (int64_t y = top; y < bottom; ++y) {
            for (int64_t x = left; x < right; ++x) {
              sum += source.load(y, x);
            }
          }
          const int64_t count =
              count_include_pad ? size_with_padding(h, i) * size_with_padding(w, j) : (bottom - top) * (right - left);
          const bool is_empty = bottom <= top || right <= left;
          target.store(i, j, is_empty ? CTYPE(0) : static_cast<CTYPE>(sum / divisor_override.value_or(count)));
        }
      }
    });
  });
  return out;
}

}  // namespace torch::executor::native
