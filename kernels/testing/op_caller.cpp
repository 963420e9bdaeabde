// Calls operators by name through the operator registry, as a program's instructions do, for callers without C++: a
// call is built value by value in the order of the operator's schema, run, and asked for its tensors' new sizes.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/tensor_shape_dynamism.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "kernels/testing/error_log.h"
#include "kernels/testing/op_call.h"
#include "kernels/testing/thread_provider.h"

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorShapeDynamism;
using executorch::runtime::EValue;
using op_caller::OpCall;

extern "C" {

/// A call of the operator `name` ("aten::add.out"); null where none is registered.
OpCall* op_call_new(const char* name) {
  executorch::runtime::runtime_init();
  op_caller::collect_errors();
  const auto function = executorch::runtime::get_op_function_from_registry(name);
  return function.ok() ? std::make_unique<OpCall>(*function).release() : nullptr;
}

void op_call_delete(OpCall* call) { delete call; }

void op_call_push_none(OpCall* call) { call->push(EValue()); }
void op_call_push_int(OpCall* call, int64_t value) { call->push(EValue(value)); }
void op_call_push_double(OpCall* call, double value) { call->push(EValue(value)); }
void op_call_push_bool(OpCall* call, bool value) { call->push(EValue(value)); }
void op_call_push_string(OpCall* call, const char* data, int64_t size) { call->push_array(data, size); }
void op_call_push_int_list(OpCall* call, const int64_t* data, int64_t size) { call->push_int_list(data, size); }
void op_call_push_double_list(OpCall* call, const double* data, int64_t size) { call->push_array(data, size); }
void op_call_push_bool_list(OpCall* call, const bool* data, int64_t size) { call->push_array(data, size); }

/// A tensor over the caller's memory. `dynamism`: 0 static, 1 bounded by the sizes given, as TensorShapeDynamism.
void op_call_push_tensor(OpCall* call, int dtype, int64_t rank, const int32_t* sizes, const uint8_t* dim_order,
                         const int32_t* strides, int dynamism, void* data) {
  op_caller::TensorStorage storage{
      {sizes, sizes + rank}, {dim_order, dim_order + rank}, {strides, strides + rank}, nullptr};
  call->push_tensor(std::move(storage), static_cast<ScalarType>(dtype), data,
                    static_cast<TensorShapeDynamism>(dynamism));
}

/// Replaces the last `size` values, all tensors, by one list of them.
void op_call_push_tensor_list(OpCall* call, int64_t size) { call->push_list_of_last<Tensor>(size, Tensor(nullptr)); }

/// Replaces the last `size` values, tensors and Nones, by one list of them.
void op_call_push_optional_tensor_list(OpCall* call, int64_t size) {
  call->push_list_of_last<std::optional<Tensor>>(size, std::nullopt);
}

/// Has the kernel's temporary memory between guard bytes.
void op_call_guard_memory(OpCall* call) { call->guard_memory(); }

/// Runs the kernel and returns the runtime's error code, 0 for success. The last `out_count` values are the out
/// arguments. Runs the kernel of `beside`, unless that is null, on another thread meanwhile.
int op_call_run(OpCall* call, int64_t out_count, OpCall* beside) {
  op_caller::error_log().clear();
  std::thread other;
  if (beside != nullptr) {
    other = std::thread([=] { beside->run(out_count); });
  }
  const auto error = call->run(out_count);
  if (other.joinable()) {
    other.join();
  }
  return static_cast<int>(error);
}

/// The errors that the runtime logged during the last call, one a line.
const char* op_call_errors() { return op_caller::error_log().c_str(); }

/// Writes the sizes of the tensor that argument `index` is, or of its `element`-th where it is a list.
void op_call_tensor_sizes(const OpCall* call, int64_t index, int64_t element, int32_t* sizes) {
  const EValue& value = call->value(index);
  const Tensor tensor = value.isTensorList() ? value.toTensorList()[element] : value.toTensor();
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), sizes);
}

/// Kernels divide their work among so many threads from now on. Returns how many it were.
int64_t op_caller_set_thread_count(int64_t count) {
  return rules_executorch::kernels::testing::set_thread_count(count);
}

/// The largest number of parts that a range was divided into since the last call of this.
int64_t op_caller_take_part_count() { return rules_executorch::kernels::testing::take_part_count(); }

}  // extern "C"
