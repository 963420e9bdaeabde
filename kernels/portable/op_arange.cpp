#include <cmath>
#include <limits>

#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The range, computed as in PyTorch: in int64_t for integer dtypes, in double for others.
template <typename T>
struct Range {
  T start;
  T end;
  T step;

  bool is_valid() const {
    return std::isfinite(static_cast<double>(start)) && std::isfinite(static_cast<double>(end)) &&
           ((step > 0 && end >= start) || (step < 0 && end <= start));
  }
  T operator[](int64_t i) const { return start + static_cast<T>(i) * step; }
};

template <typename T>
Range<T> make_range(const Scalar& start, const Scalar& end, const Scalar& step) {
  return {scalar_cast<T>(start), scalar_cast<T>(end), scalar_cast<T>(step)};
}

/// The number of steps. Fractional bounds are truncated for Long only, not for the other integer dtypes.
double range_size(ScalarType type, const Scalar& start, const Scalar& end, const Scalar& step) {
  if (type == ScalarType::Long) {
    const auto [first, last, stride] = make_range<int64_t>(start, end, step);
    return std::ceil(static_cast<double>((last - first + stride - (stride > 0 ? 1 : -1)) / stride));
  }
  return std::ceil((scalar_cast<double>(end) - scalar_cast<double>(start)) / scalar_cast<double>(step));
}

template <typename T>
void write_range(const Range<T>& range, Tensor& out) {
  const StridedView view(out);
  const int64_t stride = view.strides[0] * view.element_size();
  T values[kBlockSize];
  for (int64_t start = 0; start < view.sizes[0]; start += kBlockSize) {
    const int64_t n = std::min(kBlockSize, view.sizes[0] - start);
    for (int64_t i = 0; i < n; ++i) {
      values[i] = range[start + i];
    }
    store_block(CppTypeToScalarType<T>::value, values, view.dtype, view.data + start * stride, stride, n);
  }
}

}  // namespace

Tensor& arange_start_out(KernelRuntimeContext& ctx, const Scalar& start, const Scalar& end, const Scalar& step,
                         Tensor& out) {
  // Common dtype: the dtype of out
  const ScalarType type = out.scalar_type();
  const bool is_integral = isIntegralType(type, /*includeBool=*/false);

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(type) && type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, make_range<double>(start, end, step).is_valid(), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, type != ScalarType::Long || make_range<int64_t>(start, end, step).is_valid(), InvalidArgument,
                  out);
  const double size = range_size(type, start, end, step);
  ET_KERNEL_CHECK(ctx, size >= 0 && size <= std::numeric_limits<Tensor::SizesType>::max(), InvalidArgument, out);

  // Resize
  const auto out_size = static_cast<Tensor::SizesType>(size);
  ET_KERNEL_CHECK(ctx, resize_to(out, {&out_size, 1}), InvalidArgument, out);

  // Compute
  if (is_integral) {
    write_range(make_range<int64_t>(start, end, step), out);
  } else {
    write_range(make_range<double>(start, end, step), out);
  }
  return out;
}

Tensor& arange_out(KernelRuntimeContext& ctx, const Scalar& end, Tensor& out) {
  return arange_start_out(ctx, Scalar(0), end, Scalar(1), out);
}

}  // namespace torch::executor::native
