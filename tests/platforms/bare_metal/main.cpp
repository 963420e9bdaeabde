// Calls the quickstart's operators, as its program does: a layer of a perceptron, with numbers whose results are exact.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include "examples/microcontroller/board.h"
#include "tests/platforms/bare_metal/quickstart_lib/RegisterKernels.h"

namespace {

using executorch::aten::DimOrderType;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;

uint8_t temporary_memory[4096];

/// A matrix of floats with its shape.
template <SizesType kRows, SizesType kColumns>
class Matrix {
 public:
  explicit Matrix(float* data)
      : impl_(ScalarType::Float, 2, sizes_, data, dim_order_, strides_), value_(Tensor(&impl_)) {}

  EValue* value() { return &value_; }

 private:
  SizesType sizes_[2] = {kRows, kColumns};
  DimOrderType dim_order_[2] = {0, 1};
  StridesType strides_[2] = {kColumns, 1};
  TensorImpl impl_;
  EValue value_;
};

template <size_t kCount>
void call(const char* name, EValue* (&&arguments)[kCount]) {
  MemoryAllocator allocator(sizeof(temporary_memory), temporary_memory);
  KernelRuntimeContext context(/*event_tracer=*/nullptr, &allocator);
  const auto kernel = executorch::runtime::get_op_function_from_registry(name);
  if (!kernel.ok()) {
    write("no ");
    write(name);
    write("\n");
    end(false);
  }
  (*kernel)(context, {arguments, kCount});
  if (context.failure_state() != Error::Ok) {
    write("failed: ");
    write(name);
    write("\n");
    end(false);
  }
}

}  // namespace

int main() {
  if (torch::executor::register_quickstart_lib_kernels() != Error::Ok) {
    return 1;
  }
  float x_data[] = {1.5, 3.75, -1.5, 0};
  // As a program has the weight: transposed at export.
  float weight_data[] = {1, 0, 0, 0, 1, 1};
  float bias_data[] = {0, 0, -3.75};
  float hidden_data[6], out_data[6];
  Matrix<2, 2> x(x_data);
  Matrix<2, 3> weight(weight_data);
  Matrix<1, 3> bias(bias_data);
  Matrix<2, 3> hidden(hidden_data), out(out_data);

  EValue one(int64_t{1}), four(4.0);

  call("aten::addmm.out", {bias.value(), x.value(), weight.value(), &one, &one, hidden.value(), hidden.value()});
  call("my_ops::squareplus.out", {hidden.value(), &four, out.value(), out.value()});

  // Hundredths: printing floats would take more code than the kernels.
  for (const float each : out_data) {
    write(static_cast<int32_t>(each * 100));
    write(" ");
  }
  write("\nstack ");
  write(used_stack());
  write("\n");
  return 0;
}
