// Tests that calls fail in their context with a message that names the operator, and that sizes and numbers are copied
// back.

#include "runtime/aten/aten_operator.h"

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

using executorch::aten::ScalarType;
using executorch::aten::TensorImpl;
using executorch::aten::TensorShapeDynamism;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using rules_executorch::runtime::AtenOperator;

std::string log_messages;
bool all_right = true;

void keep(et_timestamp_t, et_pal_log_level_t, const char*, const char*, size_t, const char* message, size_t length) {
  log_messages.append(message, length).append("\n");
}

void expect(bool right, const char* what) {
  if (!right) {
    std::fprintf(stderr, "not so: %s; logged: %s\n", what, log_messages.c_str());
    all_right = false;
  }
}

// A 1-dim tensor with memory for eight floats.
class Vector {
 public:
  Vector(int32_t size, TensorShapeDynamism dynamism, ScalarType dtype = ScalarType::Float)
      : sizes_{size}, impl_(dtype, 1, sizes_.data(), data_.data(), dim_order_.data(), strides_.data(), dynamism) {}

  operator EValue() { return EValue(executorch::aten::Tensor(&impl_)); }
  float operator[](size_t i) const { return data_[i]; }
  void fill(float value) { data_.fill(value); }
  int32_t size() const { return static_cast<int32_t>(impl_.size(0)); }

 private:
  std::array<float, 8> data_ = {1, 2, 3, 4, 5, 6, 7, 8};
  std::array<int32_t, 1> sizes_;
  std::array<uint8_t, 1> dim_order_ = {0};
  std::array<int32_t, 1> strides_ = {1};
  TensorImpl impl_;
};

// Calls an operator with values. The last value is the return value.
Error call(const AtenOperator& aten_operator, std::vector<EValue> values) {
  std::vector<EValue*> stack;
  for (EValue& value : values) {
    stack.push_back(&value);
  }
  stack.push_back(stack.back());
  KernelRuntimeContext context;
  log_messages.clear();
  aten_operator.Call(context, {stack.data(), stack.size()});
  return context.failure_state();
}

bool logged(const std::string& part) { return log_messages.find(part) != std::string::npos; }

}  // namespace

int main() {
  executorch::runtime::runtime_init();
  executorch::runtime::register_pal(executorch::runtime::PalImpl::create(keep, __FILE__));
  constexpr auto kStatic = TensorShapeDynamism::STATIC;
  constexpr auto kBound = TensorShapeDynamism::DYNAMIC_BOUND;
  const AtenOperator add("aten::add.out", "aten::add", "out");
  const AtenOperator cat("aten::cat.out", "aten::cat", "out");

  {
    Vector x(2, kStatic), y(2, kStatic), out(8, kBound);
    expect(call(add, {x, y, int64_t{10}, out}) == Error::Ok, "add");
    expect(out.size() == 2 && out[0] == 11 && out[1] == 22, "a bounded output shrinks");
    Vector longer(6, kStatic);
    expect(call(add, {longer, longer, int64_t{1}, out}) == Error::Ok, "add again");
    expect(out.size() == 6 && out[5] == 12, "a bounded output grows to what was planned");
    Vector too_long(7, kStatic), small(6, kBound);
    expect(call(add, {too_long, too_long, int64_t{1}, small}) != Error::Ok, "no output grows beyond its plan");
    expect(logged("aten::add.out") && logged("[7]") && logged("[6]"), "the operator and both shapes are named");
    Vector fixed(6, kStatic);
    expect(call(add, {too_long, too_long, int64_t{1}, fixed}) != Error::Ok, "a fixed output keeps its size");
    expect(fixed[6] == 7, "nothing is written beyond it");
  }
  {
    Vector x(3, kStatic), y(2, kStatic), out(3, kStatic);
    expect(call(add, {x, y, int64_t{1}, out}) == Error::InvalidArgument, "sizes that do not broadcast");
    expect(logged("aten::add.out: The size of tensor a (3) must match"), "PyTorch says why");
    expect(call(add, {x, y, out}) == Error::InvalidArgument, "an argument too few");
    expect(logged("aten::add.out: it takes 4 arguments, not 3"), "how many it takes");
    expect(call(add, {x, int64_t{1}, int64_t{1}, out}) == Error::InvalidArgument, "a number for a tensor");
    expect(logged("aten::add.out: a value is no tensor"), "what was expected");
    expect(call(cat, {x, int64_t{0}, out}) == Error::InvalidArgument, "a tensor for a list of them");
    expect(logged("aten::cat.out: a value is no list of tensors"), "what was expected");
    Vector quantized(3, kStatic, ScalarType::QInt8);
    expect(call(add, {quantized, x, int64_t{1}, out}) == Error::InvalidArgument, "a dtype that PyTorch cannot view");
    expect(logged("aten::add.out") && logged("QInt8"), "the dtype is named");
  }
  {
    Vector x(3, kStatic), out(3, kStatic);
    const AtenOperator unknown("aten::no_such.out", "aten::no_such", "out");
    expect(call(unknown, {x, out}) == Error::OperatorMissing, "an operator of another PyTorch");
    expect(logged("aten::no_such.out"), "the operator is named");
    const AtenOperator functional("aten::neg", "aten::neg", "");
    expect(call(functional, {x}) == Error::InvalidArgument, "a new tensor");
    expect(logged("aten::neg: it returns a new value of the type Tensor"), "what it returns");
  }
  {
    Vector x(2, kStatic);
    EValue self = x, result;
    std::array<EValue*, 2> stack{&self, &result};
    KernelRuntimeContext context;
    AtenOperator("aten::neg_", "aten::neg_", "").Call(context, {stack.data(), stack.size()});
    expect(x[1] == -2 && result.isTensor() && result.toTensor().const_data_ptr() == self.toTensor().const_data_ptr(),
           "what is changed in place is returned");
    AtenOperator("aten::is_nonzero", "aten::is_nonzero", "").Call(context, {stack.data(), stack.size()});
    expect(context.failure_state() != Error::Ok, "only one element has a truth value");
    Vector one(1, kStatic);
    self = one;
    KernelRuntimeContext other_context;
    AtenOperator("aten::is_nonzero", "aten::is_nonzero", "").Call(other_context, {stack.data(), stack.size()});
    expect(result.isBool() && result.toBool(), "a number is returned");
  }
  {
    // All dtypes of the runtime, except the quantized ones, are the same in PyTorch.
    const AtenOperator copy("aten::copy_", "aten::copy_", "");
    const uint32_t bits = 0x01010101;  // bools only have the bytes 0 and 1
    float all_bytes_one;
    std::memcpy(&all_bytes_one, &bits, sizeof(bits));
    int dtypes = 0;
    for (int i = 0; i < static_cast<int>(ScalarType::NumOptions); ++i) {
      const auto dtype = static_cast<ScalarType>(i);
      const std::string name = executorch::runtime::toString(dtype);
      if (!executorch::runtime::isValid(dtype) || name[0] == 'Q') {
        continue;
      }
      // As many elements as fit into the bytes of four floats.
      const auto size = static_cast<int32_t>(4 * sizeof(float) / executorch::runtime::elementSize(dtype));
      Vector from(size, kStatic, dtype), to(size, kStatic, dtype);
      from.fill(all_bytes_one);
      to.fill(0);
      expect(call(copy, {to, from, false}) == Error::Ok, name.c_str());
      expect(to[0] == all_bytes_one && to[3] == all_bytes_one && to[4] == 0, name.c_str());
      ++dtypes;
    }
    expect(dtypes > 20, "there are that many");
  }
  return all_right ? 0 : 1;
}
