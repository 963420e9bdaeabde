#include <algorithm>
#include <limits>

#include "kernels/common/convert.h"
#include "kernels/common/dims.h"
#include "kernels/common/loop_nest.h"
#include "kernels/common/resize.h"
#include "kernels/common/vector_math.h"
#include "kernels/common/vectorize.h"

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
  // A line that fits in one block is read only once. Exponentials of a longer line wait for their sum in `out`, unless
  // its dtype would round them.
  const bool is_one_block = line.length <= kBlockSize;
  const bool out_holds_values = !is_one_block && line.dtype == type;
  const auto for_each_block = [&](const auto& visit) {
    for (int64_t start = 0; start < line.length; start += kBlockSize) {
      visit(start, std::min(kBlockSize, line.length - start));
    }
  };
  const auto load = [&](const char* source, int64_t stride, int64_t start, int64_t n) {
    load_block(line.dtype, source + start * stride, stride, type, values, n);
  };
  const auto store = [&](int64_t start, int64_t n) {
    store_block(type, values, line.dtype, out + start * line.out_stride, line.out_stride, n);
  };

  // The largest exponent becomes 0, so that no exponential overflows.
  T max = -std::numeric_limits<T>::infinity();
  for_each_block([&](int64_t start, int64_t n) {
    load(in, line.in_stride, start, n);
    max = vectorized_reduce(n, max, [&](int64_t i) { return values[i]; }, [](T a, T b) { return a < b ? b : a; });
  });
  const auto exponentials = [&](int64_t start, int64_t n) {
    if (!is_one_block) {
      load(in, line.in_stride, start, n);
    }
    vectorized_for(n, [&](int64_t i) KERNELS_ALWAYS_INLINE { values[i] = math::exp(values[i] - max); });
  };

  T sum = 0;
  for_each_block([&](int64_t start, int64_t n) {
    exponentials(start, n);
    sum += vectorized_reduce(n, T(0), [&](int64_t i) { return values[i]; }, [](T a, T b) { return a + b; });
    if (out_holds_values) {
      store(start, n);
    }
  });

  for_each_block([&](int64_t start, int64_t n) {
    if (out_holds_values) {
      load(out, line.out_stride, start, n);
    } else if (!is_one_block) {
      exponentials(start, n);
    }
    vectorized_for(n, [&](int64_t i) { values[i] /= sum; });
    store(start, n);
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
  ConstStridedView in_view(in);
  StridedView out_view(out);
  if (in.dim() == 0) {
    in_view = in_view.unsqueeze(0);
    out_view = out_view.unsqueeze(0);
  }
  const int64_t size = in_view.element_size();
  const Line line{in_view.dtype, in_view.sizes[dim], in_view.strides[dim] * size, out_view.strides[dim] * size};
  const LoopNest nest = LoopNest::over(out_view.select(dim, 0), in_view.select(dim, 0));
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    nest.for_each_row(0, nest.numel(), [&](const int64_t* offsets, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        softmax_line<CTYPE>(line, in_view.data + offsets[1] + i * nest.row_stride(1),
                            out_view.data + offsets[0] + i * nest.row_stride(0));
      }
    });
  });
  return out;
}

}  // namespace torch::executor::native
