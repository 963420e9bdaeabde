#include <algorithm>

#include "kernels/math/byte_table.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& quantized_lookup_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& table, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.scalar_type() == ScalarType::Byte || in.scalar_type() == ScalarType::Char, InvalidArgument,
                  out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == ScalarType::Byte || out.scalar_type() == ScalarType::Char, InvalidArgument,
                  out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(table, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, table.dim() == 1 && table.numel() == 256, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, quantized_lookup_dim_orders_fit(in, table, out), InvalidArgument, out);

  // Compute
  const auto* const values = static_cast<const uint8_t*>(table.const_data_ptr());
  const auto* const source = static_cast<const uint8_t*>(in.const_data_ptr());
  auto* const target = static_cast<uint8_t*>(out.mutable_data_ptr());
  parallel_for(0, out.numel(), kGrain,
               [&](int64_t begin, int64_t end) { look_up_bytes(values, source + begin, end - begin, target + begin); });
  return out;
}

}  // namespace torch::executor::native
