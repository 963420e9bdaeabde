#include <cmath>
#include <tuple>

#include "kernels/common/elementwise.h"
#include "kernels/common/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `parameter`, if given, holds one element of dtype `type` for each channel of `in`.
bool is_parameter(const Tensor& parameter, ScalarType type, const Tensor& in) {
  return parameter.scalar_type() == type && parameter.dim() == 1 && parameter.sizes()[0] == in.sizes()[1];
}

bool is_parameter(const std::optional<Tensor>& parameter, ScalarType type, const Tensor& in) {
  return !parameter.has_value() || is_parameter(*parameter, type, in);
}

/// A parameter as a view that broadcasts along the channels of a tensor of `rank` dimensions.
ConstStridedView per_channel(const Tensor& parameter, int64_t rank) {
  ConstStridedView view(parameter);
  while (view.rank < rank - 1) {
    view = view.unsqueeze(view.rank);
  }
  return view;
}

/// The same for an optional parameter, with `constant`, a double, in place of a missing one.
ConstStridedView per_channel(const std::optional<Tensor>& parameter, int64_t rank, const double& constant) {
  if (parameter.has_value()) {
    return per_channel(*parameter, rank);
  }
  ConstStridedView view;
  view.data = reinterpret_cast<const char*>(&constant);
  view.dtype = ScalarType::Double;
  return view;
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> _native_batch_norm_legit_no_training_out(
    KernelRuntimeContext& ctx, const Tensor& in, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    const Tensor& running_mean, const Tensor& running_var, double /*momentum*/, double eps, Tensor& out,
    Tensor& save_mean, Tensor& save_invstd) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_native_batch_norm_legit_no_training.out");
  std::tuple<Tensor&, Tensor&, Tensor&> results(out, save_mean, save_invstd);

  // Check
  const ScalarType type = in.scalar_type();
  const ScalarType parameter_type = running_mean.scalar_type();
  ET_KERNEL_CHECK(ctx, is_supported(type) && isFloatingType(type), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, parameter_type == type || parameter_type == compute_type(type), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, in.dim() >= 2, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, is_parameter(weight, parameter_type, in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, is_parameter(bias, parameter_type, in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, is_parameter(running_mean, parameter_type, in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, is_parameter(running_var, parameter_type, in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == type, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, save_mean.scalar_type() == parameter_type, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, save_invstd.scalar_type() == parameter_type, InvalidArgument, results);

  // Resize: without training, there are no statistics to save.
  const Tensor::SizesType nothing[] = {0};
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to(save_mean, nothing), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to(save_invstd, nothing), InvalidArgument, results);

  // Compute
  const double one = 1;
  const double zero = 0;
  ET_SWITCH_FLOAT_TYPES(compute_type(type), ctx, op_name, CTYPE, [&] {
    const CTYPE epsilon = static_cast<CTYPE>(eps);
    elementwise(
        [epsilon](CTYPE x, CTYPE w, CTYPE b, CTYPE mean, CTYPE var) -> CTYPE {
          const CTYPE scale = w / std::sqrt(var + epsilon);
          return x * scale + (b - mean * scale);
        },
        out, in, per_channel(weight, in.dim(), one), per_channel(bias, in.dim(), zero),
        per_channel(running_mean, in.dim()), per_channel(running_var, in.dim()));
  });
  return results;
}

}  // namespace torch::executor::native
