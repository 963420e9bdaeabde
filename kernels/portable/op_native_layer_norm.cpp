#include <optional>
#include <tuple>

#include "kernels/reduce/normalize.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `shape` is the shape of the last dimensions of `in`.
bool ends_with(const Tensor& in, const ArrayRef<int64_t>& shape) {
  ET_CHECK_OR_RETURN_FALSE(!shape.empty() && static_cast<ssize_t>(shape.size()) <= in.dim(),
                           "cannot normalize %zu dimensions of an input with %zd dimensions", shape.size(),
                           static_cast<ssize_t>(in.dim()));
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t size = in.sizes()[in.dim() - static_cast<int64_t>(shape.size() - d)];
    ET_CHECK_OR_RETURN_FALSE(shape[d] == size,
                             "normalized_shape has size %lld in a dimension in which the input has size %lld",
                             static_cast<long long>(shape[d]), static_cast<long long>(size));
  }
  return true;
}

/// Whether `parameter`, if given, has the shape `shape`.
bool has_shape(const std::optional<Tensor>& parameter, const ArrayRef<int64_t>& shape) {
  if (!parameter.has_value()) {
    return true;
  }
  ET_CHECK_OR_RETURN_FALSE(parameter->dim() == static_cast<ssize_t>(shape.size()),
                           "the number of dimensions of weight or bias differs from normalized_shape");
  for (size_t d = 0; d < shape.size(); ++d) {
    ET_CHECK_OR_RETURN_FALSE(parameter->sizes()[d] == shape[d],
                             "the shape of weight or bias differs from normalized_shape");
  }
  return true;
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> native_layer_norm_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                            ArrayRef<int64_t> normalized_shape,
                                                            const std::optional<Tensor>& weight,
                                                            const std::optional<Tensor>& bias, double eps, Tensor& out,
                                                            Tensor& mean, Tensor& rstd) {
  ET_DEFINE_OPERATOR_NAME(op_name, "native_layer_norm.out");
  std::tuple<Tensor&, Tensor&, Tensor&> results(out, mean, rstd);

  // Check
  const ScalarType type = in.scalar_type();
  const ScalarType statistics_type = parameter_type(type, weight, bias);
  ET_KERNEL_CHECK(ctx, is_supported(type) && isFloatingType(type), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, statistics_type != ScalarType::Undefined, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, ends_with(in, normalized_shape), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, has_shape(weight, normalized_shape) && has_shape(bias, normalized_shape), InvalidArgument,
                  results);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == type, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, mean.scalar_type() == statistics_type && rstd.scalar_type() == statistics_type, InvalidArgument,
                  results);

  // Resize
  const int64_t first = in.dim() - static_cast<int64_t>(normalized_shape.size());
  Tensor::SizesType sizes[kTensorDimensionLimit];
  for (int64_t d = 0; d < in.dim(); ++d) {
    sizes[d] = d < first ? in.sizes()[d] : 1;
  }
  const ArrayRef<Tensor::SizesType> statistics_sizes(sizes, static_cast<size_t>(in.dim()));
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to(mean, statistics_sizes), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to(rstd, statistics_sizes), InvalidArgument, results);

  // Compute
  const double one = 1;
  const double zero = 0;
  const ConstStridedView view(in);
  const Normalization normalization{view,
                                    parameter_or(weight, one).broadcast_to(view),
                                    parameter_or(bias, zero).broadcast_to(view),
                                    StridedView(out),
                                    StridedView(mean),
                                    StridedView(rstd),
                                    first,
                                    eps};
  ET_SWITCH_FLOAT_TYPES(compute_type(type), ctx, op_name, CTYPE, [&] { normalize<CTYPE>(normalization); });
  return results;
}

}  // namespace torch::executor::native
