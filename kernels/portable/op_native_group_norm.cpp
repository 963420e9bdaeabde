#include <algorithm>
#include <optional>
#include <tuple>

#include "kernels/reduce/channels_last_norm.h"
#include "kernels/reduce/normalize.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Reshapes a view from [N, C, ...] to [N, groups, C / groups, ...].
template <typename View>
View in_groups(const View& view, int64_t groups) {
  View result = view.unsqueeze(1);
  result.sizes[1] = groups;
  result.sizes[2] = view.sizes[1] / groups;
  result.strides[1] = view.strides[1] * result.sizes[2];
  return result;
}

/// A parameter as a view with the shape of the grouped `in`.
ConstStridedView per_channel_of_group(const std::optional<Tensor>& parameter, const double& constant,
                                      const StridedShape& in, int64_t groups) {
  ConstStridedView view = parameter_or(parameter, constant);
  if (parameter.has_value()) {
    view = in_groups(view.unsqueeze(0), groups);
    while (view.rank < in.rank) {
      view = view.unsqueeze(view.rank);
    }
  }
  return view.broadcast_to(in);
}

bool has_channels(const std::optional<Tensor>& parameter, int64_t channels) {
  return !parameter.has_value() || (parameter->dim() == 1 && parameter->sizes()[0] == channels);
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> native_group_norm_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                            const std::optional<Tensor>& weight,
                                                            const std::optional<Tensor>& bias, int64_t N, int64_t C,
                                                            int64_t HxW, int64_t group, double eps, Tensor& out,
                                                            Tensor& mean, Tensor& rstd) {
  ET_DEFINE_OPERATOR_NAME(op_name, "native_group_norm.out");
  std::tuple<Tensor&, Tensor&, Tensor&> results(out, mean, rstd);

  // Check
  const ScalarType type = in.scalar_type();
  const ScalarType statistics_type = parameter_type(type, weight, bias);
  ET_KERNEL_CHECK(ctx, is_supported(type) && isFloatingType(type), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, statistics_type != ScalarType::Undefined, InvalidArgument, results);
  // The grouped view has one more dimension.
  ET_KERNEL_CHECK(ctx, in.dim() >= 2 && in.dim() < static_cast<ssize_t>(kTensorDimensionLimit), InvalidArgument,
                  results);
  ET_KERNEL_CHECK(ctx, in.sizes()[0] == N && in.sizes()[1] == C, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, HxW == static_cast<int64_t>(executorch::runtime::getTrailingDims(in, 1)), InvalidArgument,
                  results);
  ET_KERNEL_CHECK(ctx, group > 0 && C % group == 0, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, has_channels(weight, C) && has_channels(bias, C), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == type, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, mean.scalar_type() == statistics_type && rstd.scalar_type() == statistics_type, InvalidArgument,
                  results);

  // Resize
  const Tensor::SizesType statistics_sizes[] = {static_cast<Tensor::SizesType>(N),
                                                static_cast<Tensor::SizesType>(group)};
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to(mean, statistics_sizes), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to(rstd, statistics_sizes), InvalidArgument, results);

  // Compute
  const double one = 1;
  const double zero = 0;
  const ConstStridedView view = in_groups(ConstStridedView(in), group);
  const Normalization normalization{view,
                                    per_channel_of_group(weight, one, view, group),
                                    per_channel_of_group(bias, zero, view, group),
                                    in_groups(StridedView(out), group),
                                    StridedView(mean),
                                    StridedView(rstd),
                                    /*first_normalized=*/2,
                                    eps};
  ET_SWITCH_FLOAT_TYPES(compute_type(type), ctx, op_name, CTYPE, [&] {
    if (!normalize_channels_last<CTYPE>(normalization)) {
      normalize<CTYPE>(normalization);
    }
  });
  return results;
}

}  // namespace torch::executor::native
