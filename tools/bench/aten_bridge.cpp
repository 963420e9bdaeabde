// Prints the additional cost of a call of a PyTorch operator in a program, compared with a call in PyTorch itself.
//
// Both calls run the same kernel, with sizes so small that the kernel does almost nothing. PyTorch's call takes
// existing tensors. The program's call starts from the runtime's registry and the program's tensors. The two calls take
// turns, and the fastest round counts.

#include <ATen/core/Tensor.h>
#include <ATen/ops/add_ops.h>
#include <ATen/ops/cat_ops.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu_ops.h>
#include <ATen/ops/where_ops.h>
#include <c10/core/InferenceMode.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

namespace {

using executorch::aten::ScalarType;
using executorch::aten::TensorImpl;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;

constexpr int kRounds = 200;
constexpr int kCalls = 2000;

// A tensor of a program, with four columns and at most four rows.
class ProgramTensor {
 public:
  explicit ProgramTensor(int32_t rows = 2, ScalarType dtype = ScalarType::Float)
      : sizes_{rows, 4}, impl_(dtype, 2, sizes_.data(), data_.data(), dim_order_.data(), strides_.data()) {}

  EValue value() { return EValue(executorch::aten::Tensor(&impl_)); }

 private:
  std::array<float, 16> data_{};
  std::array<int32_t, 2> sizes_;
  std::array<uint8_t, 2> dim_order_{0, 1};
  std::array<int32_t, 2> strides_{4, 1};
  TensorImpl impl_;
};

template <typename Call>
double NanosecondsPerCall(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) {
    call();
  }
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kCalls;
}

// Prints a row for an operator, given a call in PyTorch, and the values of a call in a program.
template <typename Direct>
void Compare(const char* name, int tensors, const Direct& direct, std::vector<EValue> values) {
  const auto op = executorch::runtime::get_op_function_from_registry(name);
  if (!op.ok()) {
    std::fprintf(stderr, "%s is not registered\n", name);
    std::exit(1);
  }
  std::vector<EValue*> stack;
  for (EValue& value : values) {
    stack.push_back(&value);
  }
  stack.push_back(stack.back());
  KernelRuntimeContext context;
  double in_pytorch = std::numeric_limits<double>::infinity();
  double in_program = in_pytorch;
  for (int round = 0; round < kRounds; ++round) {
    in_pytorch = std::min(in_pytorch, NanosecondsPerCall(direct));
    in_program = std::min(in_program, NanosecondsPerCall([&] { (*op)(context, {stack.data(), stack.size()}); }));
  }
  if (context.failure_state() != Error::Ok) {
    std::fprintf(stderr, "%s failed\n", name);
    std::exit(1);
  }
  std::printf("| `%s` | %d | %.0f | %.0f | %.1f | %.0f |\n", name, tensors, in_pytorch, in_program,
              in_program / in_pytorch, (in_program - in_pytorch) / tensors);
}

}  // namespace

int main() {
  executorch::runtime::runtime_init();
  const c10::InferenceMode no_autograd;
  at::Tensor x = at::ones({2, 4}), y = at::ones({2, 4}), out = at::empty({2, 4}), joined = at::empty({4, 4});
  const at::Tensor condition = at::ones({2, 4}, at::kBool);
  const std::vector<at::Tensor> list{x, y};

  ProgramTensor a, b, result(2), joined_in_program(4), flags(2, ScalarType::Bool);
  EValue ea = a.value(), eb = b.value();
  std::array<EValue*, 2> elements{&ea, &eb};
  std::vector<executorch::aten::Tensor> memory(2, ea.toTensor());
  BoxedEvalueList<executorch::aten::Tensor> boxed(elements.data(), memory.data(), elements.size());

  std::printf("| operator | tensors | in PyTorch, ns | in a program, ns | ratio | difference, ns per tensor |\n");
  std::printf("|---|--:|--:|--:|--:|--:|\n");
  Compare("aten::relu.out", 2, [&] { at::_ops::relu_out::call(x, out); }, {ea, result.value()});
  Compare("aten::add.out", 3, [&] { at::_ops::add_out::call(x, y, 1, out); },
          {ea, eb, EValue(int64_t{1}), result.value()});
  Compare("aten::where.self_out", 4, [&] { at::_ops::where_self_out::call(condition, x, y, out); },
          {flags.value(), ea, eb, result.value()});
  Compare("aten::cat.out", 3, [&] { at::_ops::cat_out::call(list, 0, joined); },
          {EValue(&boxed), EValue(int64_t{0}), joined_in_program.value()});
  return 0;
}
