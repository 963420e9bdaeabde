#include <algorithm>

#include "kernels/common/dtype.h"
#include "kernels/common/planes.h"
#include "kernels/common/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The input positions of output `i`: the part of the input that it is of the output, and what is begun of it.
int64_t window_begin(int64_t i, int64_t in_size, int64_t out_size) { return i * in_size / out_size; }
int64_t window_end(int64_t i, int64_t in_size, int64_t out_size) { return ((i + 1) * in_size - 1) / out_size + 1; }

}  // namespace

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
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    for_each_plane<CTYPE>(in, out, work, [&](const auto& source, const auto& target) {
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t top = window_begin(i, height, rows);
        const int64_t bottom = window_end(i, height, rows);
        for (int64_t j = 0; j < columns; ++j) {
          const int64_t left = window_begin(j, width, columns);
          const int64_t right = window_end(j, width, columns);
          CTYPE sum = 0;
          for (int64_t y = top; y < bottom; ++y) {
            for (int64_t x = left; x < right; ++x) {
              sum += source.load(y, x);
            }
          }
          target.store(i, j, sum / static_cast<CTYPE>((bottom - top) * (right - left)));
        }
      }
    });
  });
  return out;
}

}  // namespace torch::executor::native
