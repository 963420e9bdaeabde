// Calls operators of custom_ops.yaml as a program does, through the registry, and as C++ does, through Functions.h.
// all_types_program_test.py runs programs with the others.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/runtime.h>

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "codegen/tests/all_types/generated/Functions.h"
#include "runtime/testing/check.h"
#include "runtime/testing/registry_call.h"

namespace {

using executorch::aten::ArrayRef;
using executorch::aten::Tensor;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using runtime_testing::call;
using runtime_testing::call_with;
using runtime_testing::Values;

void test_outputs() {
  for (const char* name : {"types::two.out", "types::pair.out"}) {
    Values x{10}, first{}, second{};
    call(name, {EValue(x.tensor()), EValue(first.tensor()), EValue(second.tensor())});
    CHECK(first.start_with({11}));
    CHECK(second.start_with({12}));
  }

  Values x{10}, left{}, right{};
  EValue l(left.tensor()), r(right.tensor());
  std::array<EValue*, 2> list{&l, &r};
  std::vector<Tensor> memory(2, x.tensor());
  BoxedEvalueList<Tensor> boxed(list.data(), memory.data(), 2);
  call("types::split.out", {EValue(x.tensor()), EValue(&boxed)});
  CHECK(left.start_with({10}));
  CHECK(right.start_with({10}));
}

void test_nothing_returned() {
  Values x{10};
  CHECK(call("types::double_", {EValue(x.tensor())}).isNone());
  CHECK(x.start_with({20}));
  std::vector<EValue> without_slot{EValue(x.tensor())};
  CHECK(call_with("types::double_", without_slot) == Error::Ok);
  CHECK(x.start_with({40}));

  Values y{1};
  EValue first(x.tensor()), second(y.tensor());
  std::array<EValue*, 2> list{&first, &second};
  std::vector<Tensor> memory(2, x.tensor());
  BoxedEvalueList<Tensor> boxed(list.data(), memory.data(), 2);
  call("types::add_to_all_", {EValue(&boxed), EValue(2.5)});
  CHECK(x.start_with({42.5}));
  CHECK(y.start_with({3.5}));
}

void test_returned_values() {
  Values x{10, 30, 20}, empty({}, 0);
  const EValue tensor(x.tensor());
  CHECK(call("types::same", {tensor}).toTensor().const_data_ptr() == x.tensor().const_data_ptr());
  CHECK(call("types::view", {tensor}).toTensor().const_data_ptr() == x.tensor().const_data_ptr());
  CHECK(call("types::is_empty", {EValue(empty.tensor())}).toBool());
  CHECK(call("types::increment_", {tensor, EValue(2.5)}).toTensor().const_data_ptr() == x.tensor().const_data_ptr());
  CHECK(x.start_with({12.5, 30}));
}

void test_names_of_cpp() {
  Values x{10}, out{};
  call("types::reserved.out", {EValue(x.tensor()), EValue(1.0), EValue(2.0), EValue(out.tensor())});
  CHECK(out.start_with({10, 1, 2}));
  call("types::a_b.out", {EValue(7.0), EValue(out.tensor())});
  CHECK(out.start_with({7}));
  call("types_a::b.out", {EValue(7.0), EValue(out.tensor())});
  CHECK(out.start_with({-7}));
  call("executorch::hidden.out", {EValue(8.0), EValue(out.tensor())});
  CHECK(out.start_with({8}));
}

void test_wrong_number_of_values() {
  Values x{10};
  std::vector<EValue> one{EValue(x.tensor())}, none, three(3, EValue(x.tensor()));
  CHECK(call_with("types::same", one) == Error::InvalidProgram);
  CHECK(call_with("types::double_", none) == Error::InvalidProgram);
  CHECK(call_with("types::double_", three) == Error::InvalidProgram);
  CHECK(x.start_with({10}));
}

void test_functions() {
  Values x{10}, first{}, second{};
  KernelRuntimeContext context;
  Tensor first_tensor = first.tensor(), second_tensor = second.tensor();
  const std::tuple<Tensor&, Tensor&> returned =
      torch::executor::types::two_outf(context, x.tensor(), first_tensor, second_tensor);
  CHECK(&std::get<0>(returned) == &first_tensor);
  CHECK(&std::get<1>(returned) == &second_tensor);
  CHECK(second.start_with({12}));
  CHECK(torch::executor::types::count(context, x.tensor()) == 16);
  Tensor x_tensor = x.tensor();
  torch::executor::types::double_(context, x_tensor);
  CHECK(x.start_with({20}));
  torch::executor::types_a::b_outf(context, 7, first_tensor);
  CHECK(first.start_with({-7}));
}

}  // namespace

int main() {
  executorch::runtime::runtime_init();
  test_outputs();
  test_nothing_returned();
  test_returned_values();
  test_names_of_cpp();
  test_wrong_number_of_values();
  test_functions();
  return 0;
}
