// A C interface to the operator registry. The caller builds a call value by value in the order of the operator's
// schema, runs the call as a program does, and reads the new sizes of its tensors.

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
#include "runtime/kernel_api/random_seed.h"

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorShapeDynamism;
using executorch::runtime::EValue;
using op_caller::OpCall;

extern "C" {

/// Creates a call of the operator `name`, such as "aten::add.out". Null if no such operator is registered.
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

/// Pushes a tensor over the caller's memory. `dynamism` is a TensorShapeDynamism: 0 static, 1 bounded by the given
/// sizes.
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

/// Puts the temporary memory of the kernel between guard bytes.
void op_call_guard_memory(OpCall* call) { call->guard_memory(); }

/// Runs the kernel and returns the runtime's error code, 0 for success. The last `out_count` values are the out
/// arguments. If `beside` is not null, its kernel runs on another thread at the same time.
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

/// The errors that the runtime logged during the last call, one in each line.
const char* op_call_errors() { return op_caller::error_log().c_str(); }

/// Writes the sizes of argument `index`, a tensor, or of element `element` of a list of tensors.
void op_call_tensor_sizes(const OpCall* call, int64_t index, int64_t element, int32_t* sizes) {
  const EValue& value = call->value(index);
  const Tensor tensor = value.isTensorList() ? value.toTensorList()[element] : value.toTensor();
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), sizes);
}

/// Sets the number of threads among which kernels divide their work. Returns the previous number.
int64_t op_caller_set_thread_count(int64_t count) {
  return rules_executorch::kernels::testing::set_thread_count(count);
}

/// Sets the seed of random numbers.
void op_caller_set_random_seed(uint64_t seed) { rules_executorch::set_random_seed(seed); }

/// The largest number of parts of a range since the last call of this function.
int64_t op_caller_take_part_count() { return rules_executorch::kernels::testing::take_part_count(); }

}  // extern "C"
