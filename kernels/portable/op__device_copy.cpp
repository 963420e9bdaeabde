#include <executorch/runtime/core/device_allocator.h>

#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

using ::executorch::runtime::etensor::Device;
using ::executorch::runtime::etensor::DeviceType;

/// Whether two tensors with the same shape and dtype have the same layout in memory.
bool is_same_layout(const StridedShape& a, const StridedShape& b) {
  for (int64_t d = 0; d < a.rank; ++d) {
    ET_CHECK_OR_RETURN_FALSE(a.sizes[d] == 1 || a.strides[d] == b.strides[d],
                             "expected the same dim order for the input and the out tensor");
  }
  return true;
}

/// Copies the bytes of `in` to `out`. One of them is in the memory of `device`, the other one in the memory of the
/// host.
template <typename CopyBytes>
Tensor& copy_between(KernelRuntimeContext& ctx, const Tensor& in, Device device, Tensor& out,
                     const CopyBytes& copy_bytes) {
  // Check
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  DeviceAllocator* const allocator = get_device_allocator(device.type());
  ET_KERNEL_CHECK(ctx, allocator != nullptr, NotFound, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_same_layout(ConstStridedView(in), ConstStridedView(out)), InvalidArgument, out);

  // Compute: an empty tensor may have no memory.
  if (in.nbytes() > 0) {
    ET_KERNEL_CHECK(ctx, copy_bytes(*allocator) == Error::Ok, Internal, out);
  }
  return out;
}

}  // namespace

Tensor& _h2d_copy_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  const Device device = out.device();
  ET_KERNEL_CHECK(ctx, in.device_type() == DeviceType::CPU, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, device.type() != DeviceType::CPU, InvalidArgument, out);
  return copy_between(ctx, in, device, out, [&](DeviceAllocator& allocator) {
    return allocator.copy_host_to_device(out.mutable_data_ptr(), in.const_data_ptr(), in.nbytes(), device.index());
  });
}

Tensor& _d2h_copy_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  const Device device = in.device();
  ET_KERNEL_CHECK(ctx, device.type() != DeviceType::CPU, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.device_type() == DeviceType::CPU, InvalidArgument, out);
  return copy_between(ctx, in, device, out, [&](DeviceAllocator& allocator) {
    return allocator.copy_device_to_host(out.mutable_data_ptr(), in.const_data_ptr(), in.nbytes(), device.index());
  });
}

}  // namespace torch::executor::native
