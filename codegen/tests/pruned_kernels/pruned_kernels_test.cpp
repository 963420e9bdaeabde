// A library with kernels for certain dtypes and dim orders, which are built for the selected dtypes only, and which are
// registered on request.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <array>
#include <cstdint>

#include "codegen/tests/pruned_kernels/pruned/RegisterKernels.h"
#include "runtime/testing/check.h"

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;

// Adds two matrices of one element, 1 and 2, by a kernel of the library; gives what the call ends with, and the sum.
template <typename T>
Error add(size_t kernel, ScalarType dtype, T& sum) {
  std::array<TensorImpl::SizesType, 2> sizes{1, 1};
  std::array<TensorImpl::DimOrderType, 2> dim_order{0, 1};
  std::array<TensorImpl::StridesType, 2> strides{1, 1};
  T one(1), two(2);
  TensorImpl x(dtype, 2, sizes.data(), &one, dim_order.data(), strides.data());
  TensorImpl y(dtype, 2, sizes.data(), &two, dim_order.data(), strides.data());
  TensorImpl out(dtype, 2, sizes.data(), &sum, dim_order.data(), strides.data());
  std::array<EValue, 5> values{EValue(Tensor(&x)), EValue(Tensor(&y)), EValue(int64_t{1}), EValue(Tensor(&out)),
                               EValue(Tensor(&out))};
  std::array<EValue*, 5> stack{};
  for (size_t i = 0; i < stack.size(); ++i) stack[i] = &values[i];
  KernelRuntimeContext context;
  torch::executor::pruned_kernels()[kernel].op_(context, Span<EValue*>(stack.data(), stack.size()));
  return context.failure_state();
}

}  // namespace

int main() {
  executorch::runtime::runtime_init();
  CHECK(!executorch::runtime::registry_has_op_function("aten::add.out"));
  CHECK(torch::executor::pruned_kernels().size() == 2);

  float float_sum = 0;
  CHECK(add(0, ScalarType::Float, float_sum) == Error::Ok);
  CHECK(float_sum == 101);
  executorch::aten::Half half_sum(0.0f);
  CHECK(add(1, ScalarType::Half, half_sum) == Error::Ok);
  CHECK(static_cast<float>(half_sum) == 3);
  double double_sum = 0;
  CHECK(add(1, ScalarType::Double, double_sum) == Error::InvalidArgument);

  CHECK(torch::executor::register_pruned_kernels() == Error::Ok);
  CHECK(executorch::runtime::registry_has_op_function("aten::add.out"));
  return 0;
}
