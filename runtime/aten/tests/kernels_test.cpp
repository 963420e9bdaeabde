// Calls operators of kernels.yaml through the registry, as a program does.
// //codegen/tests/all_types:all_types_program_test runs programs with the other operators.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/platform/runtime.h>

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/aten/tests/kernels_lib/RegisterKernels.h"
#include "runtime/testing/check.h"
#include "runtime/testing/registry_call.h"

namespace {

using executorch::aten::ArrayRef;
using executorch::aten::Tensor;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using runtime_testing::call;
using runtime_testing::Values;

void test_outputs() {
  Values x{10}, first{}, second{};
  EValue l(first.tensor()), r(second.tensor());
  call("types::two.out", {EValue(x.tensor()), l, r});
  CHECK(first.start_with({11}) && second.start_with({12}));
  call("types::two.scaled_out", {EValue(x.tensor()), EValue(0.5), l, r});
  CHECK(first.start_with({5}) && second.start_with({2.5}));

  std::array<EValue*, 2> list{&l, &r};
  std::vector<Tensor> memory(2, x.tensor());
  BoxedEvalueList<Tensor> boxed(list.data(), memory.data(), 2);
  call("types::split.out", {EValue(x.tensor()), EValue(&boxed)});
  CHECK(first.start_with({10}) && second.start_with({10}));
}

void test_returned_values() {
  Values x{10, 30, 20};
  const EValue tensor(x.tensor());
  CHECK(call("types::increment_", {tensor, EValue(2.5)}).toTensor().const_data_ptr() == x.tensor().const_data_ptr());
  CHECK(x.start_with({12.5, 30}));
  CHECK(call("types::double_", {tensor}).isNone());
  CHECK(x.start_with({25, 30}));
}

}  // namespace

int main() {
  executorch::runtime::runtime_init();
  CHECK(torch::executor::register_kernels_lib_kernels() == Error::Ok);
  test_outputs();
  test_returned_values();
  return 0;
}
