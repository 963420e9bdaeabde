#include <optional>
#include <string_view>

#include "kernels/copy/copy.h"
#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/packed_product.h"
#include "kernels/math/activation.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `weight` has the shape of the panels of a layer: a row for each input feature, or for each pair of input
/// features.
bool check_panels(const Tensor& in, const Tensor& weight, int64_t out_features) {
  const bool has_pairs = weight.scalar_type() == ScalarType::BFloat16;
  ET_CHECK_OR_RETURN_FALSE(
      weight.dim() == (has_pairs ? 4 : 3) && weight.size(2) == kFloatPanelColumns &&
          (!has_pairs || weight.size(3) == 2),
      "the weights are not in panels of %d columns: the program was exported by another version of "
      "rules_executorch; export the program again",
      int(kFloatPanelColumns));
  const int64_t k = weight.size(1) * (has_pairs ? 2 : 1);
  ET_CHECK_OR_RETURN_FALSE(in.dim() >= 1 && in.size(in.dim() - 1) == k,
                           "the weights are for %d input features, the input has another number", int(k));
  const int64_t panels = (out_features + kFloatPanelColumns - 1) / kFloatPanelColumns;
  ET_CHECK_OR_RETURN_FALSE(out_features >= 0 && weight.size(0) == panels, "%d panels do not match %d output features",
                           int(weight.size(0)), int(out_features));
  return true;
}

}  // namespace

Tensor& packed_linear_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                          const std::optional<Tensor>& bias, int64_t out_features, std::string_view activation,
                          double minimum, double maximum, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "packed_linear.out");

  // Check
  const ScalarType type = in.scalar_type();
  Activation of_floats;
  ET_KERNEL_CHECK(ctx, is_supported(type) && isFloatingType(type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, weight, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, !bias.has_value() || tensors_have_same_dtype(*bias, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, check_panels(in, weight, out_features), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, !bias.has_value() || (bias->dim() == 1 && bias->size(0) == out_features), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, find_activation<float>(activation, minimum, maximum, of_floats), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like_with_last(out, in, out_features), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, packed_linear_dim_orders_fit(in, weight, bias, out), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Inputs with other dim orders are copied to contiguous memory. So are inputs that must be converted.
  ScalarType in_type = type;
  ET_SWITCH_FLOATHBF16_TYPES(type, ctx, op_name, CTYPE, [&] {
    in_type = PackedProduct<CTYPE>::multiplies_pairs() ? type : CppTypeToScalarType<SumType<CTYPE>>::value;
  });
  const void* source = in.const_data_ptr();
  if (!is_contiguous(in) || in_type != type) {
    const auto memory = ctx.allocate_temp(in.numel() * elementSize(in_type), /*alignment=*/64);
    ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, out,
                        "not enough temporary memory for a copy of the input");
    StridedView copied;
    static_cast<StridedShape&>(copied) = ConstStridedView(in).contiguous(in_type);
    copied.data = static_cast<char*>(*memory);
    copy(ConstStridedView(in), copied);
    source = *memory;
  }

  // Compute
  ET_SWITCH_FLOATHBF16_TYPES(type, ctx, op_name, CTYPE, [&] {
    PackedProduct<CTYPE> layer{product_loops<SumType<CTYPE>>(),
                               source,
                               static_cast<const CTYPE*>(weight.const_data_ptr()),
                               bias.has_value() ? static_cast<const CTYPE*>(bias->const_data_ptr()) : nullptr,
                               static_cast<CTYPE*>(out.mutable_data_ptr()),
                               out.numel() / out_features,
                               in.size(in.dim() - 1),
                               out_features,
                               {}};
    find_activation<SumType<CTYPE>>(activation, minimum, maximum, layer.activation);
    layer.compute();
  });
  return out;
}

}  // namespace torch::executor::native
