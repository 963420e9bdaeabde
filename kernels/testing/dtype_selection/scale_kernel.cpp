#include <executorch/runtime/kernel/kernel_includes.h>

// A kernel of a user that supports selected dtypes only. It uses the dispatch macros of the runtime with the name of
// the operator.

namespace my_ops::native {

using executorch::aten::Scalar;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

namespace {

/// Copies `x` to `out` and multiplies the elements by `factor`. `name` is not known at compile time.
void multiply(KernelRuntimeContext& context, const char* name, const Tensor& x, double factor, Tensor& out) {
  ET_SWITCH_REAL_TYPES(x.scalar_type(), context, name, CTYPE, [&] {
    for (ssize_t i = 0; i < x.numel(); ++i) {
      out.mutable_data_ptr<CTYPE>()[i] = static_cast<CTYPE>(x.const_data_ptr<CTYPE>()[i] * factor);
    }
  });
}

}  // namespace

Tensor& scale_out(KernelRuntimeContext& context, const Tensor& x, const Scalar& factor, Tensor& out) {
  ET_KERNEL_CHECK(context, executorch::runtime::tensors_have_same_dtype(x, out), InvalidArgument, out);
  ET_KERNEL_CHECK(context, executorch::runtime::resize_tensor(out, x.sizes()) == executorch::runtime::Error::Ok,
                  InvalidArgument, out);
  const auto factor_type = factor.isBoolean() ? executorch::aten::ScalarType::Bool
                                              : (factor.isIntegral(false) ? executorch::aten::ScalarType::Long
                                                                          : executorch::aten::ScalarType::Double);
  ET_SWITCH_REAL_TYPES(x.scalar_type(), context, "my_ops::scale.out", CTYPE, [&] {
    ET_SWITCH_SCALAR_OBJ_TYPES(factor_type, context, "scale.out", CTYPE_FACTOR, [&] {
      for (ssize_t i = 0; i < x.numel(); ++i) {
        out.mutable_data_ptr<CTYPE>()[i] = static_cast<CTYPE>(x.const_data_ptr<CTYPE>()[i] * factor.to<CTYPE_FACTOR>());
      }
    });
  });
  return out;
}

Tensor& named_late_out(KernelRuntimeContext& context, const Tensor& x, Tensor& out) {
  ET_KERNEL_CHECK(context, executorch::runtime::resize_tensor(out, x.sizes()) == executorch::runtime::Error::Ok,
                  InvalidArgument, out);
  multiply(context, "named_late.out", x, 2, out);
  return out;
}

}  // namespace my_ops::native
