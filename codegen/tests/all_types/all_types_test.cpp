// Calls each operator of custom_ops.yaml as a program does, through the registry, and as C++ does, through Functions.h.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/runtime.h>

#include <array>
#include <cstdint>
#include <optional>
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

void test_tensors() {
  Values a{2}, b{3}, out{};
  EValue two(a.tensor()), three(b.tensor()), none;
  std::array<EValue*, 2> list{&two, &three}, gaps{&three, &none};
  std::vector<Tensor> list_memory(2, a.tensor());
  std::array<std::optional<Tensor>, 2> gaps_memory;
  BoxedEvalueList<Tensor> boxed_list(list.data(), list_memory.data(), 2);
  BoxedEvalueList<std::optional<Tensor>> boxed_gaps(gaps.data(), gaps_memory.data(), 2);
  call("types::tensors.out", {two, none, EValue(&boxed_list), EValue(&boxed_gaps), none, none, EValue(out.tensor())});
  CHECK(out.start_with({2, -1, 5, 1003, -1, -1}));
  call("types::tensors.out", {two, three, EValue(&boxed_list), EValue(&boxed_gaps), EValue(&boxed_list),
                              EValue(&boxed_gaps), EValue(out.tensor())});
  CHECK(out.start_with({2, 3, 5, 1003, 2, 2}));
}

void test_numbers() {
  Values out{};
  const EValue none, yes(true), no(false), half(0.5), five(int64_t{5}), six(int64_t{6});
  call("types::numbers.out", {half, five, five, six, six, five, half, half, yes, no, yes, EValue(out.tensor())});
  CHECK(out.start_with({0.5, 5, 5, 6, 6, 5, 0.5, 0.5, 1, 1, 1}));
  call("types::numbers.out", {five, none, six, none, five, none, half, none, no, none, no, EValue(out.tensor())});
  CHECK(out.start_with({5, -1, 6, -1, 5, -1, 0.5, -1, 0, 0, 0}));
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
  call("types::lists.out", {i, i, none, i, f, none, b, b, none, EValue(out.tensor())});
  CHECK(out.start_with({3, 3, -1, 3, 0.75, -1, 2, 2, -1}));
  call("types::lists.out", {i, i, i, i, f, f, b, b, b, EValue(out.tensor())});
  CHECK(out.start_with({3, 3, 3, 3, 0.75, 0.75, 2, 2, 2}));
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
  CHECK(call("types::count", {tensor}).toInt() == 16);
  CHECK(call("types::first", {tensor}).toDouble() == 10);
  CHECK(!call("types::is_empty", {tensor}).toBool());
  CHECK(call("types::is_empty", {EValue(empty.tensor())}).toBool());
  CHECK(call("types::largest", {tensor}).toDouble() == 30);
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
  test_tensors();
  test_numbers();
  test_lists();
  test_names();
  test_outputs();
  test_nothing_returned();
  test_returned_values();
  test_names_of_cpp();
  test_wrong_number_of_values();
  test_functions();
  return 0;
}
