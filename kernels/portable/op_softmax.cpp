#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/convert.h"
#include "kernels/common/dims.h"
#include "kernels/common/loop_nest.h"
#include "kernels/common/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Where `length` elements lie that add up to 1 in the result.
struct Line {
  ScalarType dtype;
  int64_t length;
  int64_t in_stride;  // in bytes
  int64_t out_stride;
};

template <typename T>
void softmax_line(const Line& line, const char* in, char* out) {
  const ScalarType type = CppTypeToScalarType<T>::value;
  T values[kBlockSize];
  // A line that fits in one block is read, and its exponentials calculated, only once.
  const bool is_one_block = line.length <= kBlockSize;
  const auto for_each_block = [&](bool load, const auto& visit) {
    for (int64_t start = 0; start < line.length; start += kBlockSize) {
      const int64_t n = std::min(kBlockSize, line.length - start);
      if (load) {
        load_block(line.dtype, in + start * line.in_stride, line.in_stride, type, values, n);
      }
      visit(start, n);
    }
  };

  // The largest exponent becomes 0, so that no exponential overflows.
  T max = -std::numeric_limits<T>::infinity();
  for_each_block(true, [&](int64_t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      max = std::max(max, values[i]);
    }
  });

  T sum = 0;
  for_each_block(!is_one_block, [&](int64_t, int64_t n) {
    T block_sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      values[i] = std::exp(values[i] - max);
      block_sum += values[i];
    }
    sum += block_sum;
  });

  for_each_block(!is_one_block, [&](int64_t start, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      values[i] = (is_one_block ? values[i] : std::exp(values[i] - max)) / sum;
    }
    store_block(type, values, line.dtype, out + start * line.out_stride, line.out_stride, n);
  });
}

}  // namespace

Tensor& softmax_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool half_to_float, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_softmax.out");

  // Check
  ET_KERNEL_CHECK(ctx, !half_to_float, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()) && isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  StridedView in_view(in);
  StridedView out_view(out);
  if (in.dim() == 0) {
    in_view = in_view.unsqueeze(0);
    out_view = out_view.unsqueeze(0);
  }
  const int64_t size = in_view.element_size();
  const Line line{in_view.dtype, in_view.sizes[dim], in_view.strides[dim] * size, out_view.strides[dim] * size};
  const StridedView starts[] = {out_view.select(dim, 0), in_view.select(dim, 0)};
  const LoopNest nest(starts, 2);
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    nest.for_each_row([&](char* const* row) {
      for (int64_t i = 0; i < nest.row_size(); ++i) {
        softmax_line<CTYPE>(line, row[1] + i * nest.row_stride(1), row[0] + i * nest.row_stride(0));
      }
    });
  });
  return out;
}

}  // namespace torch::executor::native
