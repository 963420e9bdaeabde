// Calls operators by name through the operator registry, as a program's instructions do, for callers without C++: a
// call is built value by value in the order of the operator's schema, run, and asked for its tensors' new sizes.

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

using executorch::aten::ArrayRef;
using executorch::aten::DimOrderType;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::aten::TensorShapeDynamism;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::OpFunction;
using executorch::runtime::PalImpl;
using executorch::runtime::Span;

namespace {

/// What the runtime logged as an error since the last call began.
std::string& error_log() {
  static std::string log;
  return log;
}

void collect_errors(et_timestamp_t, et_pal_log_level_t level, const char*, const char*, size_t, const char* message,
                    size_t length) {
  if (level == kFatal) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(length), message);  // The process is about to end.
  } else if (level == kError) {
    error_log().append(message, length).append("\n");
  }
}

/// The memory behind a tensor's metadata.
struct TensorStorage {
  std::vector<SizesType> sizes;
  std::vector<DimOrderType> dim_order;
  std::vector<StridesType> strides;
  std::unique_ptr<TensorImpl> impl;
};

/// The memory behind a list: its boxed elements, and where the runtime unboxes them.
template <typename T>
struct List {
  std::vector<std::unique_ptr<EValue>> elements;
  std::vector<EValue*> pointers;
  std::vector<T> unboxed;
  std::unique_ptr<BoxedEvalueList<T>> boxed;
};

/// Memory of one value, of whatever type.
template <typename T>
std::shared_ptr<void> keep(std::unique_ptr<T> value) {
  return std::shared_ptr<void>(std::shared_ptr<T>(std::move(value)));
}

}  // namespace

struct OpCall {
  OpFunction function;
  std::vector<std::shared_ptr<void>> storage;
  std::vector<std::unique_ptr<EValue>> values;
  std::unique_ptr<EValue> result_list;

  void push(EValue value) { values.push_back(std::make_unique<EValue>(std::move(value))); }

  /// A list of `elements`; `fill` is what their unboxed values are until the runtime unboxes them.
  template <typename T>
  EValue make_list(std::vector<std::unique_ptr<EValue>> elements, T fill) {
    auto list = std::make_unique<List<T>>();
    const size_t size = elements.size();
    list->elements = std::move(elements);
    for (const auto& element : list->elements) {
      list->pointers.push_back(element.get());
    }
    list->pointers.push_back(nullptr);  // An empty list has an address, too.
    list->unboxed.assign(size + 1, fill);
    list->boxed = std::make_unique<BoxedEvalueList<T>>(list->pointers.data(), list->unboxed.data(), int(size));
    EValue value(list->boxed.get());
    storage.push_back(keep(std::move(list)));
    return value;
  }

  template <typename T>
  void push_array(const T* data, int64_t size) {
    auto copy = std::make_unique<T[]>(size + 1);
    std::copy_n(data, size, copy.get());
    auto array = std::make_unique<ArrayRef<T>>(copy.get(), size_t(size));
    push(EValue(array.get()));
    storage.push_back(std::shared_ptr<void>(copy.release(), [](void* memory) { delete[] static_cast<T*>(memory); }));
    storage.push_back(keep(std::move(array)));
  }

  std::vector<std::unique_ptr<EValue>> take_last(int64_t count) {
    std::vector<std::unique_ptr<EValue>> taken(std::make_move_iterator(values.end() - count),
                                               std::make_move_iterator(values.end()));
    values.resize(values.size() - count);
    return taken;
  }
};

extern "C" {

/// A call of the operator `name` ("aten::add.out"); null where none is registered.
OpCall* op_call_new(const char* name) {
  executorch::runtime::runtime_init();
  static const bool registered = executorch::runtime::register_pal(PalImpl::create(collect_errors, __FILE__));
  (void)registered;
  const auto function = executorch::runtime::get_op_function_from_registry(name);
  if (!function.ok()) {
    return nullptr;
  }
  auto call = std::make_unique<OpCall>();
  call->function = *function;
  return call.release();
}

void op_call_delete(OpCall* call) { delete call; }

void op_call_push_none(OpCall* call) { call->push(EValue()); }
void op_call_push_int(OpCall* call, int64_t value) { call->push(EValue(value)); }
void op_call_push_double(OpCall* call, double value) { call->push(EValue(value)); }
void op_call_push_bool(OpCall* call, bool value) { call->push(EValue(value)); }
void op_call_push_string(OpCall* call, const char* data, int64_t size) { call->push_array(data, size); }
void op_call_push_double_list(OpCall* call, const double* data, int64_t size) { call->push_array(data, size); }
void op_call_push_bool_list(OpCall* call, const bool* data, int64_t size) { call->push_array(data, size); }

void op_call_push_int_list(OpCall* call, const int64_t* data, int64_t size) {
  std::vector<std::unique_ptr<EValue>> elements;
  for (int64_t i = 0; i < size; ++i) {
    elements.push_back(std::make_unique<EValue>(data[i]));
  }
  call->push(call->make_list<int64_t>(std::move(elements), 0));
}

/// A tensor over the caller's memory. `dynamism`: 0 static, 1 bounded by the sizes given, as TensorShapeDynamism.
void op_call_push_tensor(OpCall* call, int dtype, int64_t dim, const int32_t* sizes, const uint8_t* dim_order,
                         const int32_t* strides, int dynamism, void* data) {
  auto tensor = std::make_unique<TensorStorage>();
  tensor->sizes.assign(sizes, sizes + dim);
  tensor->dim_order.assign(dim_order, dim_order + dim);
  tensor->strides.assign(strides, strides + dim);
  tensor->impl =
      std::make_unique<TensorImpl>(static_cast<ScalarType>(dtype), dim, tensor->sizes.data(), data,
                                   tensor->dim_order.data(), tensor->strides.data(), TensorShapeDynamism(dynamism));
  call->push(EValue(Tensor(tensor->impl.get())));
  call->storage.push_back(keep(std::move(tensor)));
}

/// Replaces the last `size` values, all tensors, by one list of them.
void op_call_push_tensor_list(OpCall* call, int64_t size) {
  call->push(call->make_list<Tensor>(call->take_last(size), Tensor(nullptr)));
}

/// Replaces the last `size` values, tensors and Nones, by one list of them.
void op_call_push_optional_tensor_list(OpCall* call, int64_t size) {
  call->push(call->make_list<std::optional<Tensor>>(call->take_last(size), std::nullopt));
}

/// Runs the kernel and returns the runtime's error code, 0 for success. The last `out_count` values are the out
/// arguments; what the operator returns is passed after them, as programs do.
int op_call_run(OpCall* call, int64_t out_count) {
  std::vector<EValue*> stack;
  for (const auto& value : call->values) {
    stack.push_back(value.get());
  }
  if (out_count == 1) {
    stack.push_back(stack.back());
  } else {
    std::vector<std::unique_ptr<EValue>> results;
    for (int64_t i = 0; i < out_count; ++i) {
      results.push_back(std::make_unique<EValue>(*stack[stack.size() - out_count + i]));
    }
    call->result_list = std::make_unique<EValue>(call->make_list<Tensor>(std::move(results), Tensor(nullptr)));
    stack.push_back(call->result_list.get());
  }
  error_log().clear();
  executorch::extension::MallocMemoryAllocator temp_allocator;
  KernelRuntimeContext context(nullptr, &temp_allocator);
  call->function(context, Span<EValue*>(stack.data(), stack.size()));
  return static_cast<int>(context.failure_state());
}

/// The errors that the runtime logged during the last call, one a line.
const char* op_call_errors() { return error_log().c_str(); }

/// Writes the sizes of the tensor that argument `index` is, or of its `element`-th where it is a list.
void op_call_tensor_sizes(const OpCall* call, int64_t index, int64_t element, int32_t* sizes) {
  const EValue& value = *call->values[index];
  const Tensor tensor = value.isTensorList() ? value.toTensorList()[element] : value.toTensor();
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), sizes);
}

}  // extern "C"
