// The kernel for every dtype and dim order.

#include <executorch/runtime/kernel/kernel_includes.h>

namespace pruned::native {

using executorch::aten::Scalar;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

Tensor& add(KernelRuntimeContext& context, const Tensor& self, const Tensor& other, const Scalar&, Tensor& out) {
  ET_SWITCH_REALHBF16_TYPES(self.scalar_type(), context, "add.out", CTYPE, [&] {
    out.mutable_data_ptr<CTYPE>()[0] = self.const_data_ptr<CTYPE>()[0] + other.const_data_ptr<CTYPE>()[0];
  });
  return out;
}

}  // namespace pruned::native
