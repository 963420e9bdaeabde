#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

// The dim order of an output is planned. The argument is ignored.
namespace rules_executorch::native {

at::Tensor& empty_dim_order_out(at::IntArrayRef size, at::OptionalIntArrayRef, at::Tensor& out) {
  return const_cast<at::Tensor&>(out.resize_(size));
}

at::Tensor& clone_dim_order_out(const at::Tensor& self, bool non_blocking, at::OptionalIntArrayRef, at::Tensor& out) {
  out.resize_(self.sizes());
  return out.copy_(self, non_blocking);
}

}  // namespace rules_executorch::native
