#include <cstdint>
#include <tuple>

#include "kernels/images/volumes.h"
#include "kernels/images/windows.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Where window `i` of a dimension begins, for a random number between 0 and 1. As in PyTorch, halves are rounded after
/// each step.
template <typename T>
int64_t fractional_begin(int64_t i, T sample, int64_t in_size, int64_t out_size, int64_t kernel) {
  if (i == out_size - 1) {
    return in_size - kernel;
  }
  const T step = static_cast<T>(in_size - kernel) / static_cast<T>(out_size - 1);
  return static_cast<int64_t>((static_cast<T>(i) + sample) * step) - static_cast<int64_t>(sample * step);
}

}  // namespace

std::tuple<Tensor&, Tensor&> fractional_max_pool2d_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                       ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> output_size,
                                                       const Tensor& samples, Tensor& out, Tensor& indices) {
  ET_DEFINE_OPERATOR_NAME(op_name, "fractional_max_pool2d.output");
  std::tuple<Tensor&, Tensor&> results(out, indices);

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, samples, out), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, indices.scalar_type() == ScalarType::Long, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, in.dim() == 3 || in.dim() == 4, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, kernel_size.size() == 2 && output_size.size() == 2, InvalidArgument, results);
  const ConstStridedView source = as_volumes(ConstStridedView(in), 2);
  ET_KERNEL_CHECK(ctx, source.sizes[1] > 0, InvalidArgument, results);
  for (int64_t d = 0; d < 2; ++d) {
    const int64_t size = source.sizes[3 + d];
    ET_KERNEL_CHECK(ctx, kernel_size[d] > 0 && kernel_size[d] <= size, InvalidArgument, results);
    ET_KERNEL_CHECK(ctx, output_size[d] > 0 && output_size[d] <= size - kernel_size[d] + 1, InvalidArgument, results);
  }
  ET_KERNEL_CHECK(ctx, samples.dim() == 3 && samples.size(0) >= source.sizes[0], InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, samples.size(1) >= source.sizes[1] && samples.size(2) == 2, InvalidArgument, results);
  int64_t sizes[4];
  for (int64_t d = 0; d < in.dim(); ++d) {
    sizes[d] = d < in.dim() - 2 ? in.size(d) : output_size[d - in.dim() + 2];
  }

  // Resize
  const ArrayRef<int64_t> size(sizes, static_cast<size_t>(in.dim()));
  ET_KERNEL_CHECK(ctx, resize_to_size(out, size) && resize_to_size(indices, size), InvalidArgument, results);

  // Compute
  const ConstStridedView numbers(samples);
  ET_SWITCH_FLOATHBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    for (int64_t n = 0; n < source.sizes[0]; ++n) {
      for (int64_t c = 0; c < source.sizes[1]; ++c) {
        const auto plane = [n, c](const auto& volumes) { return volumes.slice(0, n, 1).slice(1, c, 1); };
        const CTYPE* const of_plane =
            reinterpret_cast<const CTYPE*>(numbers.data) + n * numbers.strides[0] + c * numbers.strides[1];
        const auto window = [&](int64_t d, int64_t i) {
          if (d == 0) {
            return Window{0, 1};
          }
          // The first number is that of the width.
          const CTYPE sample = of_plane[d == 2 ? 0 : numbers.strides[2]];
          const int64_t kernel = kernel_size[d - 1];
          const int64_t begin = fractional_begin(i, sample, source.sizes[2 + d], output_size[d - 1], kernel);
          return Window{begin, begin + kernel};
        };
        max_volumes<CTYPE>(plane(source), plane(as_volumes(StridedView(out), 2)),
                           plane(as_volumes(StridedView(indices), 2)), kernel_size[0] * kernel_size[1], window);
      }
    }
  });
  return results;
}

}  // namespace torch::executor::native
