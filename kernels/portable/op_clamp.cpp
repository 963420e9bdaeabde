#include <limits>
#include <optional>

#include "kernels/elementwise/elementwise.h"
#include "kernels/math/extremes.h"
#include "kernels/math/select.h"
#include "kernels/tensors/promotion.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The common dtype of a tensor and its bounds.
template <typename Bound>
ScalarType clamped_type(const Tensor& in, const std::optional<Bound>& min, const std::optional<Bound>& max) {
  TypePromotion promotion;
  promotion.add(in);
  if (min.has_value()) {
    promotion.add(*min);
  }
  if (max.has_value()) {
    promotion.add(*max);
  }
  return promotion.result();
}

/// `bound` as a value of type T, or `none`, a bound without effect.
template <typename T>
T bound_or(const std::optional<Scalar>& bound, T none) {
  return bound.has_value() ? scalar_cast<T>(*bound) : none;
}

}  // namespace

Tensor& clamp_out(KernelRuntimeContext& ctx, const Tensor& in, const std::optional<Scalar>& min,
                  const std::optional<Scalar>& max, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "clamp.out");

  // Common dtype
  const ScalarType common_type = clamped_type(in, min, max);

  // Check
  ET_KERNEL_CHECK(ctx, min.has_value() || max.has_value(), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, common_type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, !min.has_value() || scalar_fits(*min, common_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, !max.has_value() || scalar_fits(*max, common_type), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_REAL_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    using Limits = std::numeric_limits<CTYPE>;
    const CTYPE low = bound_or<CTYPE>(min, Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
    const CTYPE high = bound_or<CTYPE>(max, Limits::has_infinity ? Limits::infinity() : Limits::max());
    // NaN propagates, because comparisons with NaN are false. If a bound is NaN, all results are NaN.
    const CTYPE limit = high != high ? high : low;
    if (limit != limit) {
      elementwise([limit](CTYPE) -> CTYPE { return limit; }, out, in);
      return;
    }
    elementwise(
        [low, high](CTYPE x) -> CTYPE {
          const CTYPE raised = x < low ? low : x;
          return raised > high ? high : raised;
        },
        out, in);
  });
  return out;
}

Tensor& clamp_tensor_out(KernelRuntimeContext& ctx, const Tensor& in, const std::optional<Tensor>& min,
                         const std::optional<Tensor>& max, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "clamp.Tensor_out");

  // Common dtype
  const ScalarType common_type = clamped_type(in, min, max);

  // Check
  ET_KERNEL_CHECK(ctx, min.has_value() || max.has_value(), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, !(min.has_value() && max.has_value()) || common_type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, in, min.value_or(in), max.value_or(in)), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALB_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    if (!max.has_value()) {
      elementwise([](CTYPE x, CTYPE low) -> CTYPE { return larger(x, low); }, out, in, *min);
    } else if (!min.has_value()) {
      elementwise([](CTYPE x, CTYPE high) -> CTYPE { return smaller(x, high); }, out, in, *max);
    } else {
      elementwise(
          [](CTYPE x, CTYPE low, CTYPE high) -> CTYPE {
            // Selections with bit masks: compilers would translate this many conditions to branches.
            const CTYPE raised = select(x != x, x, x > low ? x : low);
            return select(raised != raised, raised, raised < high ? raised : high);
          },
          out, in, *min, *max);
    }
  });
  return out;
}

}  // namespace torch::executor::native
