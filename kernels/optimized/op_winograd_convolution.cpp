#include <optional>
#include <string_view>

#include "kernels/convolution/epilogue.h"
#include "kernels/convolution/winograd.h"
#include "kernels/gemm/product_loops.h"
#include "kernels/optimized/dim_orders.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& winograd_convolution_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                                 const std::optional<Tensor>& bias, const std::optional<Tensor>& addend,
                                 int64_t out_channels, int64_t tile, ArrayRef<int64_t> padding,
                                 ArrayRef<int64_t> end_padding, std::string_view activation, double minimum,
                                 double maximum, Tensor& out) {
  // Check
  WinogradGeometry geometry;
  ET_KERNEL_CHECK(ctx, in.scalar_type() == ScalarType::Float, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, weight, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, read_winograd_geometry(in, weight, out_channels, tile, padding, end_padding, geometry),
                  InvalidArgument, out);

  // Resize
  Epilogue epilogue;
  if (!prepare_images(ctx, in, bias, addend, out_channels, geometry, activation, minimum, maximum, out, epilogue)) {
    return out;
  }
  ET_KERNEL_CHECK(ctx, winograd_convolution_dim_orders_fit(in, weight, bias, addend, out), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Compute
  const WinogradPlan plan = plan_winograd_convolution(geometry);
  const auto memory = ctx.allocate_temp(plan.parts * plan.scratch_size * sizeof(float), /*alignment=*/64);
  ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, out, "not enough temporary memory for the convolution");
  convolve(
      product_loops<float>(), plan,
      {static_cast<const float*>(in.const_data_ptr()), static_cast<const float*>(weight.const_data_ptr()),
       elements_of<float>(bias), elements_of<float>(addend), static_cast<float*>(out.mutable_data_ptr()), epilogue},
      static_cast<float*>(*memory));
  return out;
}

}  // namespace torch::executor::native
