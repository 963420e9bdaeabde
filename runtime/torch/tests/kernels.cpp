#include <executorch/runtime/kernel/kernel_includes.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

namespace bridge::native {

using executorch::aten::ArrayRef;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::aten::TensorList;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::kTensorDimensionLimit;
using executorch::runtime::resize_tensor;

namespace {

bool is_float(const Tensor& tensor) { return tensor.scalar_type() == ScalarType::Float; }

double number(const Scalar& scalar) {
  return scalar.isFloatingPoint() ? scalar.to<double>() : static_cast<double>(scalar.to<int64_t>());
}

}  // namespace

// x * by, with the dim order of x.
Tensor& scale_out(KernelRuntimeContext& context, const Tensor& x, const Scalar& by, Tensor& out) {
  ET_KERNEL_CHECK(context, is_float(x) && is_float(out), InvalidArgument, out);
  ET_KERNEL_CHECK(context, resize_tensor(out, x.sizes()) == Error::Ok, InvalidArgument, out);
  ET_KERNEL_CHECK(context, executorch::runtime::tensors_have_same_dim_order(x, out), InvalidArgument, out);
  for (ssize_t i = 0; i < x.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = x.const_data_ptr<float>()[i] * static_cast<float>(number(by));
  }
  return out;
}

// The largest element along the last dimension, and its index.
std::tuple<Tensor&, Tensor&> largest_out(KernelRuntimeContext& context, const Tensor& x, int64_t dim, Tensor& values,
                                         Tensor& indices) {
  std::tuple<Tensor&, Tensor&> result(values, indices);
  ET_KERNEL_CHECK(context, dim == -1 || dim == x.dim() - 1, InvalidArgument, result);
  ET_KERNEL_CHECK(context, is_float(x) && is_float(values), InvalidArgument, result);
  ET_KERNEL_CHECK(context, indices.scalar_type() == ScalarType::Long, InvalidArgument, result);
  const ArrayRef<SizesType> sizes(x.sizes().data(), x.dim() - 1);
  ET_KERNEL_CHECK(context, resize_tensor(values, sizes) == Error::Ok, InvalidArgument, result);
  ET_KERNEL_CHECK(context, resize_tensor(indices, sizes) == Error::Ok, InvalidArgument, result);
  const ssize_t length = x.size(x.dim() - 1);
  for (ssize_t row = 0; row < values.numel(); ++row) {
    const float* from = x.const_data_ptr<float>() + row * length;
    int64_t found = 0;
    for (ssize_t i = 1; i < length; ++i) {
      if (from[i] > from[found]) found = i;
    }
    values.mutable_data_ptr<float>()[row] = from[found];
    indices.mutable_data_ptr<int64_t>()[row] = found;
  }
  return result;
}

// The weighted sum of the used parts ("sum") or of their negatives, plus the tensors of the gaps and the bias, in the
// given sizes.
Tensor& join_out(KernelRuntimeContext& context, TensorList parts, ArrayRef<std::optional<Tensor>> gaps,
                 ArrayRef<double> weights, std::optional<ArrayRef<int64_t>> sizes, ArrayRef<bool> used,
                 std::string_view mode, const std::optional<Tensor>& bias, Tensor& out) {
  ET_KERNEL_CHECK(context, parts.size() == 2 && weights.size() == 2 && used.size() == 2, InvalidArgument, out);
  ET_KERNEL_CHECK(context, is_float(parts[0]) && is_float(out), InvalidArgument, out);
  std::array<SizesType, kTensorDimensionLimit> wanted{};
  size_t rank = parts[0].dim();
  if (sizes) {
    rank = sizes->size();
    for (size_t i = 0; i < rank; ++i) wanted[i] = static_cast<SizesType>((*sizes)[i]);
  } else {
    for (size_t i = 0; i < rank; ++i) wanted[i] = parts[0].sizes()[i];
  }
  ET_KERNEL_CHECK(context, resize_tensor(out, {wanted.data(), rank}) == Error::Ok, InvalidArgument, out);
  ET_KERNEL_CHECK(context, out.numel() == parts[0].numel(), InvalidArgument, out);
  float* to = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < out.numel(); ++i) {
    float sum = 0;
    for (size_t part = 0; part < 2; ++part) {
      if (used[part]) sum += static_cast<float>(weights[part]) * parts[part].const_data_ptr<float>()[i];
    }
    if (mode != "sum") sum = -sum;
    for (const std::optional<Tensor>& gap : gaps) {
      if (gap) sum += gap->const_data_ptr<float>()[i];
    }
    to[i] = sum + (bias ? bias->const_data_ptr<float>()[0] : 0);
  }
  return out;
}

Tensor& is_even_out(KernelRuntimeContext& context, const Tensor& x, Tensor& out) {
  ET_KERNEL_CHECK(context, x.scalar_type() == ScalarType::Long, InvalidArgument, out);
  ET_KERNEL_CHECK(context, out.scalar_type() == ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(context, resize_tensor(out, x.sizes()) == Error::Ok, InvalidArgument, out);
  for (ssize_t i = 0; i < x.numel(); ++i) {
    out.mutable_data_ptr<bool>()[i] = x.const_data_ptr<int64_t>()[i] % 2 == 0;
  }
  return out;
}

// x[0].
Tensor& first_out(KernelRuntimeContext& context, const Tensor& x, Tensor& out) {
  ET_KERNEL_CHECK(context, is_float(x) && is_float(out) && x.dim() > 0, InvalidArgument, out);
  ET_KERNEL_CHECK(context, out.dim() == x.dim() - 1, InvalidArgument, out);
  ET_KERNEL_CHECK(context, resize_tensor(out, x.sizes().slice(1)) == Error::Ok, InvalidArgument, out);
  std::copy_n(x.const_data_ptr<float>(), out.numel(), out.mutable_data_ptr<float>());
  return out;
}

Tensor& checked_out(const Tensor& x, Tensor& out) {
  ET_CHECK_MSG(is_float(x) && is_float(out), "floats only");
  ET_CHECK_MSG(x.sizes() == out.sizes(), "the result has another shape");
  for (ssize_t i = 0; i < x.numel(); ++i) out.mutable_data_ptr<float>()[i] = -x.const_data_ptr<float>()[i];
  return out;
}

Tensor& kind_of_float_out(KernelRuntimeContext& context, const Tensor& x, Tensor& out) {
  ET_KERNEL_CHECK(context, resize_tensor(out, x.sizes()) == Error::Ok, InvalidArgument, out);
  for (ssize_t i = 0; i < x.numel(); ++i) out.mutable_data_ptr<float>()[i] = 0.5F;
  return out;
}

Tensor& kind_of_long_out(KernelRuntimeContext& context, const Tensor& x, Tensor& out) {
  ET_KERNEL_CHECK(context, resize_tensor(out, x.sizes()) == Error::Ok, InvalidArgument, out);
  for (ssize_t i = 0; i < x.numel(); ++i) out.mutable_data_ptr<int64_t>()[i] = 7;
  return out;
}

Tensor& add_(Tensor& self, double by) {
  for (ssize_t i = 0; i < self.numel(); ++i) self.mutable_data_ptr<float>()[i] += static_cast<float>(by);
  return self;
}

int64_t count(const Tensor& x) { return x.numel(); }

// The elements that are greater than 0.
Tensor& positive_out(KernelRuntimeContext& context, const Tensor& x, Tensor& out) {
  ET_KERNEL_CHECK(context, is_float(x) && is_float(out), InvalidArgument, out);
  SizesType found = 0;
  for (ssize_t i = 0; i < x.numel(); ++i) found += x.const_data_ptr<float>()[i] > 0;
  ET_KERNEL_CHECK(context, resize_tensor(out, {&found, 1}) == Error::Ok, InvalidArgument, out);
  float* to = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < x.numel(); ++i) {
    if (x.const_data_ptr<float>()[i] > 0) *to++ = x.const_data_ptr<float>()[i];
  }
  return out;
}

Tensor& careless_out(const Tensor& x, Tensor& out) {
  out.mutable_data_ptr<float>()[0] = x.const_data_ptr<float>()[0];
  return out;
}

Tensor& sneaky_out(KernelRuntimeContext& context, const Tensor& x, Tensor& out) {
  ET_KERNEL_CHECK(context, is_float(x) && is_float(out), InvalidArgument, out);
  ET_KERNEL_CHECK(context, resize_tensor(out, x.sizes()) == Error::Ok, InvalidArgument, out);
  out.mutable_data_ptr<float>()[0] = x.mutable_data_ptr<float>()[0]++;
  return out;
}

}  // namespace bridge::native
