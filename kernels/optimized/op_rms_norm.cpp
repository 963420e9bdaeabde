#include <algorithm>
#include <cmath>

#include "kernels/math/vectorize.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Contiguous elements for computations in `T`.
template <typename T>
struct NormElements {
  const char* data;
  ScalarType type;

  explicit NormElements(const Tensor& tensor)
      : data(static_cast<const char*>(tensor.const_data_ptr())), type(tensor.scalar_type()) {}

  /// A pointer to `n` elements, or `block` with converted elements if they have another type.
  const T* load(int64_t first, int64_t n, T* block) const {
    const auto size = static_cast<int64_t>(elementSize(type));
    if (type == CppTypeToScalarType<T>::value) {
      return reinterpret_cast<const T*>(data) + first;
    }
    load_block(type, data + first * size, size, CppTypeToScalarType<T>::value, block, n);
    return block;
  }
};

/// Calls `function(start, count)` for each block of a row.
template <typename Function>
void for_each_block(int64_t n, const Function& function) {
  for (int64_t start = 0; start < n; start += kBlockSize) {
    function(start, std::min(kBlockSize, n - start));
  }
}

/// Divides each row of `n` elements by the root of its mean square, and multiplies it by the weight.
template <typename T>
void normalize_rows(const Tensor& in, const std::optional<Tensor>& weight, int64_t n, double eps, Tensor& out) {
  constexpr ScalarType kType = CppTypeToScalarType<T>::value;
  const NormElements<T> source(in);
  const NormElements<T> factors(weight.has_value() ? *weight : in);
  const bool has_weight = weight.has_value();
  const ScalarType out_type = out.scalar_type();
  const auto out_size = static_cast<int64_t>(elementSize(out_type));
  char* const target = static_cast<char*>(out.mutable_data_ptr());
  parallel_for(0, out.numel() / n, std::max<int64_t>(kGrain / n, 1), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      LaneReduction<T> squares(0);
      for_each_block(n, [&](int64_t start, int64_t count) {
        T block[kBlockSize];
        squares.add(count, source.load(row * n + start, count, block), [](T sum, T x) { return sum + x * x; });
      });
      const T sum = squares.result([](T a, T b) { return a + b; });
      const T rstd = 1 / std::sqrt(sum / static_cast<T>(n) + static_cast<T>(eps));
      for_each_block(n, [&](int64_t start, int64_t count) {
        T blocks[2][kBlockSize];
        const T* const x = source.load(row * n + start, count, blocks[0]);
        char* const place = target + (row * n + start) * out_size;
        T* const results = out_type == kType ? reinterpret_cast<T*>(place) : blocks[0];
        if (has_weight) {
          const T* const factor = factors.load(start, count, blocks[1]);
          vectorized_for(count, [=](int64_t i) { results[i] = x[i] * rstd * factor[i]; });
        } else {
          vectorized_for(count, [=](int64_t i) { results[i] = x[i] * rstd; });
        }
        if (out_type != kType) {
          store_block(kType, results, out_type, place, out_size, count);
        }
      });
    }
  });
}

}  // namespace

Tensor& rms_norm_out(KernelRuntimeContext& ctx, const Tensor& in, const std::optional<Tensor>& weight, int64_t dims,
                     double eps, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "rms_norm.out");

  // Check
  const ScalarType type = in.scalar_type();
  ET_KERNEL_CHECK(ctx, is_supported(type) && isFloatingType(type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == type, InvalidArgument, out);
  ET_KERNEL_CHECK_MSG(ctx, dims >= 1 && dims <= in.dim(), InvalidArgument, out,
                      "cannot normalize %lld dimensions of an input with %d dimensions", static_cast<long long>(dims),
                      static_cast<int>(in.dim()));
  if (weight.has_value()) {
    const ScalarType weight_type = weight->scalar_type();
    ET_KERNEL_CHECK(ctx, weight_type == type || weight_type == compute_type(type), InvalidArgument, out);
    const auto sizes = in.sizes().slice(in.dim() - dims);
    ET_KERNEL_CHECK_MSG(ctx, weight->sizes() == sizes, InvalidArgument, out,
                        "the weight's shape differs from the last %d dimensions of the input: export the program "
                        "with the version of the rules that its kernels come from",
                        static_cast<int>(dims));
  }

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, rms_norm_dim_orders_fit(in, weight, out), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Compute
  int64_t n = 1;
  for (ssize_t d = in.dim() - static_cast<ssize_t>(dims); d < in.dim(); ++d) {
    n *= in.size(d);
  }
  ET_SWITCH_FLOAT_TYPES(compute_type(type), ctx, op_name, CTYPE,
                        [&] { normalize_rows<CTYPE>(in, weight, n, eps, out); });
  return out;
}

}  // namespace torch::executor::native
