#include <cmath>
#include <optional>
#include <tuple>

#include "kernels/elementwise/elementwise.h"
#include "kernels/reduce/normalize.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `parameter` has dtype `type` and one element for each channel of `in`.
bool is_parameter(const Tensor& parameter, ScalarType type, const Tensor& in) {
  return parameter.scalar_type() == type && parameter.dim() == 1 && parameter.sizes()[0] == in.sizes()[1];
}

/// The common arguments of the operators.
struct BatchNorm {
  const Tensor& in;
  const std::optional<Tensor>& weight;
  const std::optional<Tensor>& bias;
  double eps;
  Tensor& out;
  Tensor& save_mean;
  Tensor& save_invstd;

  /// Whether the arguments are valid, with parameters and statistics of dtype `parameter_type`.
  bool is_valid(ScalarType parameter_type) const {
    const ScalarType type = in.scalar_type();
    ET_LOG_AND_RETURN_IF_FALSE(is_supported(type) && isFloatingType(type));
    ET_LOG_AND_RETURN_IF_FALSE(parameter_type == type || parameter_type == compute_type(type));
    ET_LOG_AND_RETURN_IF_FALSE(in.dim() >= 2);
    ET_LOG_AND_RETURN_IF_FALSE(!weight.has_value() || is_parameter(*weight, parameter_type, in));
    ET_LOG_AND_RETURN_IF_FALSE(!bias.has_value() || is_parameter(*bias, parameter_type, in));
    ET_LOG_AND_RETURN_IF_FALSE(out.scalar_type() == type);
    ET_LOG_AND_RETURN_IF_FALSE(save_mean.scalar_type() == parameter_type);
    ET_LOG_AND_RETURN_IF_FALSE(save_invstd.scalar_type() == parameter_type);
    return true;
  }

  /// Resizes the results. The saved statistics have `channels` elements.
  bool resize(Tensor::SizesType channels) const {
    return resize_like(out, in) && resize_to(save_mean, {&channels, 1}) && resize_to(save_invstd, {&channels, 1});
  }

  bool resize_to_channels() const {
    ET_CHECK_OR_RETURN_FALSE(in.numel() > 0, "cannot compute statistics of an empty batch");
    return resize(in.sizes()[1]);
  }
};

/// A parameter as a view with `count` additional dimensions of size 1 after the channels. A missing parameter is
/// `constant`.
ConstStridedView per_channel(const std::optional<Tensor>& parameter, int64_t count, const double& constant = 0) {
  ConstStridedView view = parameter_or(parameter, constant);
  while (parameter.has_value() && view.rank <= count) {
    view = view.unsqueeze(view.rank);
  }
  return view;
}

/// Moves the channels, the second dimension, to the first position.
template <typename View>
View channels_first(const View& view) {
  int64_t order[kTensorDimensionLimit] = {1, 0};
  for (int64_t d = 2; d < view.rank; ++d) {
    order[d] = d;
  }
  return view.permute(order);
}

/// Normalizes each channel by the mean and the variance of its elements, and saves these statistics. Updates the
/// running statistics, if given, with weight `momentum` for the new statistics.
template <typename T>
void normalize_batch(const BatchNorm& args, Tensor* running_mean = nullptr, Tensor* running_var = nullptr,
                     double momentum = 0) {
  const double one = 1;
  const double zero = 0;
  const ConstStridedView in = channels_first(ConstStridedView(args.in));
  normalize<T>({in, per_channel(args.weight, in.rank - 1, one).broadcast_to(in),
                per_channel(args.bias, in.rank - 1, zero).broadcast_to(in), channels_first(StridedView(args.out)),
                StridedView(args.save_mean), StridedView(args.save_invstd), /*first_normalized=*/1, args.eps,
                running_var == nullptr ? nullptr : static_cast<char*>(running_var->mutable_data_ptr()), momentum});
  if (running_mean != nullptr) {
    const T share = static_cast<T>(momentum);
    elementwise([share](T old, T value) -> T { return share * value + (1 - share) * old; }, *running_mean,
                *running_mean, args.save_mean);
  }
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> _native_batch_norm_legit_no_training_out(
    KernelRuntimeContext& ctx, const Tensor& in, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    const Tensor& running_mean, const Tensor& running_var, double /*momentum*/, double eps, Tensor& out,
    Tensor& save_mean, Tensor& save_invstd) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_native_batch_norm_legit_no_training.out");
  std::tuple<Tensor&, Tensor&, Tensor&> results(out, save_mean, save_invstd);
  const BatchNorm args{in, weight, bias, eps, out, save_mean, save_invstd};

  // Check
  const ScalarType parameter_type = running_mean.scalar_type();
  ET_KERNEL_CHECK(ctx, args.is_valid(parameter_type), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, is_parameter(running_mean, parameter_type, in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, is_parameter(running_var, parameter_type, in), InvalidArgument, results);

  // Resize: without training, the saved statistics are empty.
  ET_KERNEL_CHECK(ctx, args.resize(/*channels=*/0), InvalidArgument, results);

  // Compute
  const double one = 1;
  const double zero = 0;
  const int64_t trailing = in.dim() - 2;
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    const CTYPE epsilon = static_cast<CTYPE>(eps);
    elementwise(wide([epsilon](CTYPE x, CTYPE w, CTYPE b, CTYPE mean, CTYPE var) KERNELS_ALWAYS_INLINE -> CTYPE {
                  const CTYPE scale = w / std::sqrt(var + epsilon);
                  return x * scale + (b - mean * scale);
                }),
                out, in, per_channel(weight, trailing, one), per_channel(bias, trailing, zero),
                per_channel(running_mean, trailing), per_channel(running_var, trailing));
  });
  return results;
}

std::tuple<Tensor&, Tensor&, Tensor&> _native_batch_norm_legit_out(
    KernelRuntimeContext& ctx, const Tensor& in, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    Tensor& running_mean, Tensor& running_var, bool training, double momentum, double eps, Tensor& out,
    Tensor& save_mean, Tensor& save_invstd) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_native_batch_norm_legit.out");
  if (!training) {
    return _native_batch_norm_legit_no_training_out(ctx, in, weight, bias, running_mean, running_var, momentum, eps,
                                                    out, save_mean, save_invstd);
  }
  std::tuple<Tensor&, Tensor&, Tensor&> results(out, save_mean, save_invstd);
  const BatchNorm args{in, weight, bias, eps, out, save_mean, save_invstd};

  // Check
  const ScalarType parameter_type = running_mean.scalar_type();
  ET_KERNEL_CHECK(ctx, args.is_valid(parameter_type), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, is_parameter(running_mean, parameter_type, in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, is_parameter(running_var, parameter_type, in), InvalidArgument, results);

  // Resize
  ET_KERNEL_CHECK(ctx, args.resize_to_channels(), InvalidArgument, results);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                        [&] { normalize_batch<CTYPE>(args, &running_mean, &running_var, momentum); });
  return results;
}

std::tuple<Tensor&, Tensor&, Tensor&> _native_batch_norm_legit_no_stats_out(
    KernelRuntimeContext& ctx, const Tensor& in, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    bool training, double /*momentum*/, double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_native_batch_norm_legit.no_stats_out");
  std::tuple<Tensor&, Tensor&, Tensor&> results(out, save_mean, save_invstd);
  const BatchNorm args{in, weight, bias, eps, out, save_mean, save_invstd};

  // Check: evaluation would need running statistics.
  ET_KERNEL_CHECK(ctx, training, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, args.is_valid(parameter_type(in.scalar_type(), weight, bias)), InvalidArgument, results);

  // Resize
  ET_KERNEL_CHECK(ctx, args.resize_to_channels(), InvalidArgument, results);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] { normalize_batch<CTYPE>(args); });
  return results;
}

}  // namespace torch::executor::native
