#include <algorithm>
#include <optional>
#include <string_view>

#include "kernels/convolution/epilogue.h"
#include "kernels/convolution/packed/convolution.h"
#include "kernels/convolution/packed/geometry.h"
#include "kernels/convolution/packed/plan.h"
#include "kernels/optimized/dim_orders.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& packed_convolution_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                               const std::optional<Tensor>& bias, const std::optional<Tensor>& addend,
                               ArrayRef<int64_t> kernel_size, int64_t out_channels, ArrayRef<int64_t> stride,
                               ArrayRef<int64_t> padding, ArrayRef<int64_t> end_padding, ArrayRef<int64_t> dilation,
                               int64_t groups, std::string_view activation, double minimum, double maximum,
                               bool transposed, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "packed_convolution.out");

  // Check
  packed::Geometry geometry;
  const ScalarType type = in.scalar_type();
  ET_KERNEL_CHECK(ctx, isFloatingType(type) && type != ScalarType::Double, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, weight, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx,
                  packed::read_geometry(in, weight, {kernel_size, stride, padding, end_padding, dilation, transposed},
                                        out_channels, groups, geometry),
                  InvalidArgument, out);

  // Resize
  Epilogue epilogue;
  if (!prepare_images(ctx, in, bias, addend, out_channels, geometry, activation, minimum, maximum, out, epilogue)) {
    return out;
  }
  ET_KERNEL_CHECK(ctx, packed_convolution_dim_orders_fit(in, weight, bias, addend, out), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Compute
  size_t size = 0;
  const auto for_phases = [&](const auto& function) {
    for (int64_t i = 0; i < packed::phase_count(geometry); ++i) {
      const packed::Geometry phase = packed::phase_of(geometry, i);
      // The result may have fewer pixels than a stride.
      if (phase.y.out_size > 0 && phase.x.out_size > 0) {
        function(packed::make_plan(phase));
      }
    }
  };
  for_phases([&](const packed::Plan& plan) { size = std::max<size_t>(size, plan.scratch_size()); });
  const auto memory = ctx.allocate_temp(size, /*alignment=*/64);
  ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, out, "not enough temporary memory for the convolution");
  ET_SWITCH_THREE_TYPES(Float, Half, BFloat16, type, ctx, op_name, CTYPE, [&] {
    const packed::Operands<CTYPE> operands{static_cast<const CTYPE*>(in.const_data_ptr()),
                                           static_cast<const CTYPE*>(weight.const_data_ptr()),
                                           elements_of<CTYPE>(bias),
                                           elements_of<CTYPE>(addend),
                                           static_cast<CTYPE*>(out.mutable_data_ptr()),
                                           epilogue};
    for_phases([&](const packed::Plan& plan) {
      packed::PackedConvolution<CTYPE>(plan, operands).compute(static_cast<char*>(*memory));
    });
  });
  return out;
}

}  // namespace torch::executor::native
