#include <algorithm>

#include "kernels/images/average_pool.h"
#include "kernels/images/windows.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& _adaptive_avg_pool2d_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> output_size,
                                 Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_adaptive_avg_pool2d.out");

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() == 3 || in.dim() == 4, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, output_size.size() == 2, InvalidArgument, out);
  int64_t sizes[4];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  for (int64_t d = in.dim() - 2; d < in.dim(); ++d) {
    ET_KERNEL_CHECK(ctx, sizes[d] > 0, InvalidArgument, out);
  }
  const int64_t height = sizes[in.dim() - 2];
  const int64_t width = sizes[in.dim() - 1];

  // Resize
  std::copy_n(output_size.data(), 2, sizes + in.dim() - 2);
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Compute
  const int64_t rows = output_size[0];
  const int64_t columns = output_size[1];
  const int64_t work = (height / rows + 1) * (width / columns + 1);
  const auto window_of_row = [&](int64_t i) { return adaptive_window(i, height, rows); };
  const auto window_of_column = [&](int64_t j) { return adaptive_window(j, width, columns); };
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    average_windows<CTYPE>(in, out, work, window_of_row, window_of_column, [&](CTYPE sum, int64_t i, int64_t j) {
      const Window y = window_of_row(i);
      const Window x = window_of_column(j);
      return sum / static_cast<CTYPE>((y.end - y.begin) * (x.end - x.begin));
    });
  });
  return out;
}

}  // namespace torch::executor::native
