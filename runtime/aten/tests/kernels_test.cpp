// Calls each operator of kernels.yaml as a program does, through the registry.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/platform/runtime.h>

#include <array>
#include <cstdint>
#include <optional>
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

void test_tensors() {
  Values a{2}, b{3}, out{};
  EValue two(a.tensor()), three(b.tensor()), none;
  std::array<EValue*, 2> list{&two, &three}, gaps{&three, &none};
  std::vector<Tensor> list_memory(2, a.tensor());
  std::array<std::optional<Tensor>, 2> gaps_memory;
  BoxedEvalueList<Tensor> boxed_list(list.data(), list_memory.data(), 2);
  BoxedEvalueList<std::optional<Tensor>> boxed_gaps(gaps.data(), gaps_memory.data(), 2);
  call("types::tensors.out", {two, none, EValue(&boxed_list), EValue(&boxed_gaps), none, EValue(out.tensor())});
  CHECK(out.start_with({2, -1, 5, 1003, -1}));
  call("types::tensors.out",
       {two, three, EValue(&boxed_list), EValue(&boxed_gaps), EValue(&boxed_list), EValue(out.tensor())});
  CHECK(out.start_with({2, 3, 5, 1003, 2}));
}

void test_numbers() {
  Values out{};
  const EValue none, yes(true), no(false), half(0.5), five(int64_t{5}), six(int64_t{6});
  call("types::numbers.out", {half, five, five, six, six, half, half, yes, yes, EValue(out.tensor())});
  CHECK(out.start_with({0.5, 5, 5, 6, 6, 0.5, 0.5, 1, 1}));
  call("types::numbers.out", {five, none, six, none, five, half, none, no, none, EValue(out.tensor())});
  CHECK(out.start_with({5, -1, 6, -1, 5, 0.5, -1, 0, 0}));
}

void test_lists() {
  Values out{};
  EValue one(int64_t{1}), two(int64_t{2});
  const EValue none;
  std::array<EValue*, 2> ints{&one, &two};
  std::array<int64_t, 2> memory{};
  BoxedEvalueList<int64_t> boxed(ints.data(), memory.data(), 2);
  std::array<double, 2> doubles{0.25, 0.5};
  ArrayRef<double> double_list(doubles.data(), 2);
  std::array<bool, 3> bools{true, false, true};
  ArrayRef<bool> bool_list(bools.data(), 3);
  const EValue i(&boxed), f(&double_list), b(&bool_list);
  call("types::lists.out", {i, i, none, i, f, none, b, EValue(out.tensor())});
  CHECK(out.start_with({3, 3, -1, 3, 0.75, -1, 2}));
  call("types::lists.out", {i, i, i, i, f, f, b, EValue(out.tensor())});
  CHECK(out.start_with({3, 3, 3, 3, 0.75, 0.75, 2}));
}

void test_names() {
  Values out{};
  const EValue none, zero(int64_t{0}), one(int64_t{1}), six(int64_t{6});
  ArrayRef<char> text("abcd", 4);
  const EValue s(&text);
  call("types::names.out", {s, none, six, none, one, none, zero, none, one, none, EValue(out.tensor())});
  CHECK(out.start_with({4, -1, 6, -1, 1, -1, 0, -1, 1, -1}));
  call("types::names.out", {s, s, six, six, one, one, zero, zero, zero, one, EValue(out.tensor())});
  CHECK(out.start_with({4, 4, 6, 6, 1, 1, 0, 0, 0, 1}));
}

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
  CHECK(call("types::count", {tensor}).toInt() == 16);
  CHECK(call("types::largest", {tensor}).toDouble() == 30);
  CHECK(call("types::increment_", {tensor, EValue(2.5)}).toTensor().const_data_ptr() == x.tensor().const_data_ptr());
  CHECK(x.start_with({12.5, 30}));
  CHECK(call("types::double_", {tensor}).isNone());
  CHECK(x.start_with({25, 30}));
}

}  // namespace

int main() {
  executorch::runtime::runtime_init();
  CHECK(torch::executor::register_kernels_lib_kernels() == Error::Ok);
  test_tensors();
  test_numbers();
  test_lists();
  test_names();
  test_outputs();
  test_returned_values();
  return 0;
}
