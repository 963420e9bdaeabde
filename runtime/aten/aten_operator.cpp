#include "runtime/aten/aten_operator.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/log.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rules_executorch::ET_RUNTIME_NAMESPACE {
namespace {

using executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Result;
using executorch::runtime::Span;
using ProgramTensor = executorch::aten::Tensor;

// The parameter to which a value of a program is converted.
struct Parameter {
  c10::TypeKind kind;
  // The kind of a list's elements.
  c10::TypeKind element_kind = c10::TypeKind::AnyType;
  bool is_optional = false;
  bool is_element_optional = false;
  bool is_written = false;
};

// A tensor to which the operator writes: the program's tensor and PyTorch's.
struct Written {
  ProgramTensor in_program;
  at::Tensor tensor;
};

struct Call {
  torch::jit::Stack stack;
  c10::SmallVector<Written, 4> written;
};

// Removes `?` from a type. SymInt, ScalarType, Layout and MemoryFormat are all integers in a boxed kernel.
c10::TypeKind KindOf(const c10::TypePtr& type, bool& is_optional) {
  if (type->kind() == c10::TypeKind::OptionalType) {
    is_optional = true;
    return type->containedType(0)->kind();
  }
  return type->kind();
}

Parameter ParameterOf(const c10::Argument& argument) {
  Parameter parameter{};
  parameter.kind = KindOf(argument.type(), parameter.is_optional);
  parameter.is_written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
  if (parameter.kind == c10::TypeKind::ListType) {
    const c10::TypePtr& list = parameter.is_optional ? argument.type()->containedType(0) : argument.type();
    parameter.element_kind = KindOf(list->containedType(0), parameter.is_element_optional);
  }
  return parameter;
}

#ifdef USE_ATEN_LIB

// With USE_ATEN_LIB, the program's tensors are PyTorch's.
at::Tensor View(const ProgramTensor& tensor) { return tensor; }
void CarryBack(Written&) {}

#else

// The dtype with the same number. PyTorch's quantized dtypes are refused, because they need a scale and a zero point.
at::ScalarType DtypeOf(const ProgramTensor& tensor) {
  const auto number = static_cast<int8_t>(tensor.scalar_type());
  const auto dtype = static_cast<at::ScalarType>(number);
  TORCH_CHECK(number >= 0 && dtype < at::ScalarType::Undefined, "PyTorch has no dtype with the number ", int{number});
  TORCH_CHECK(!c10::isQIntType(dtype), "PyTorch cannot view memory as a tensor of dtype ", c10::toString(dtype));
  return dtype;
}

// A tensor over the program's memory. If an operator needs more memory, it allocates memory, and CarryBack copies.
at::Tensor View(const ProgramTensor& tensor) {
  const at::ScalarType dtype = DtypeOf(tensor);
  TORCH_CHECK(tensor.unsafeGetTensorImpl()->device_type() == executorch::aten::DeviceType::CPU,
              "a tensor is not in the CPU's memory");
  TORCH_CHECK(tensor.nbytes() == 0 || tensor.const_data_ptr() != nullptr, "a tensor has no memory");
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), tensor.nbytes(),
      c10::DataPtr(const_cast<void*>(tensor.const_data_ptr()), c10::Device(c10::DeviceType::CPU)),
      c10::GetCPUAllocator(), /*resizable=*/true);
  at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), c10::scalarTypeToTypeMeta(dtype));
  const c10::SmallVector<int64_t, 6> sizes(tensor.sizes().begin(), tensor.sizes().end());
  if (tensor.strides().data() == nullptr) {
    view.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  } else {
    const c10::SmallVector<int64_t, 6> strides(tensor.strides().begin(), tensor.strides().end());
    view.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  }
  return view;
}

template <typename Sizes>
std::string ShapeText(const Sizes& sizes) {
  std::ostringstream text;
  const char* separator = "[";
  for (const auto size : sizes) {
    text << separator << size;
    separator = ", ";
  }
  text << (sizes.empty() ? "[]" : "]");
  return text.str();
}

bool HaveEqualSizes(const at::Tensor& tensor, const ProgramTensor& in_program) {
  return tensor.dim() == in_program.dim() &&
         std::equal(tensor.sizes().begin(), tensor.sizes().end(), in_program.sizes().begin());
}

// Whether both tensors, which have equal sizes, share the memory of their elements.
bool IsView(const at::Tensor& tensor, const ProgramTensor& in_program) {
  if (tensor.const_data_ptr() != in_program.const_data_ptr() && tensor.numel() > 0) {
    return false;
  }
  if (in_program.strides().data() == nullptr) {
    return tensor.is_contiguous();
  }
  for (int64_t i = 0; i < tensor.dim() && tensor.numel() > 1; ++i) {
    if (tensor.size(i) > 1 && tensor.stride(i) != in_program.strides()[i]) {
      return false;
    }
  }
  return true;
}

// Copies the sizes and the elements of the operator's result to the program's tensor.
void CarryBack(Written& written) {
  const ProgramTensor& in_program = written.in_program;
  const at::Tensor& tensor = written.tensor;
  if (!HaveEqualSizes(tensor, in_program)) {
    const std::string planned = ShapeText(in_program.sizes());
    const c10::SmallVector<executorch::aten::SizesType, 6> sizes(tensor.sizes().begin(), tensor.sizes().end());
    const Error error = executorch::runtime::resize_tensor(
        in_program, executorch::aten::ArrayRef<executorch::aten::SizesType>(sizes.data(), sizes.size()));
    TORCH_CHECK(error == Error::Ok, "it gave an output of shape ", ShapeText(tensor.sizes()),
                ", for which the program's tensor of shape ", planned,
                " was not planned: its number of dimensions, or its largest size, does not suffice");
  }
  if (!IsView(tensor, in_program)) {
    const bool shares_memory = tensor.storage().data() == in_program.const_data_ptr();
    View(in_program).copy_(shares_memory ? tensor.clone() : tensor);
  }
}

#endif

// Suppresses the warning about resized outputs: with dynamic shapes, outputs are always resized.
class ResizeWarningFilter : public c10::WarningHandler {
 public:
  explicit ResizeWarningFilter(c10::WarningHandler* next) : next_(next) {}

  void process(const c10::Warning& warning) override {
    if (std::string_view(warning.msg()).find("elements was resized since it had shape") == std::string_view::npos) {
      next_->process(warning);
    }
  }

 private:
  c10::WarningHandler* next_;
};

// The content of a value. Throws an exception that names the expected type.
template <typename T>
T Read(const EValue& value, const char* type) {
  Result<T> result = value.tryTo<T>();
  TORCH_CHECK(result.ok(), "a value is no ", type);
  return std::move(result.get());
}

at::Tensor TensorOf(const ProgramTensor& in_program, bool is_written, Call& call) {
  at::Tensor tensor = View(in_program);
  if (is_written) {
    call.written.push_back({in_program, tensor});
  }
  return tensor;
}

c10::IValue ScalarOf(const EValue& value) {
  if (value.isInt()) {
    return value.toInt();
  }
  if (value.isDouble()) {
    return value.toDouble();
  }
  return Read<bool>(value, "number");
}

template <typename T, typename Elements>
c10::List<T> Copy(const Elements& elements) {
  c10::List<T> list;
  list.reserve(elements.size());
  for (const auto element : elements) {
    list.push_back(T(element));
  }
  return list;
}

template <typename T>
using ListIn = executorch::aten::ArrayRef<T>;

c10::IValue ListOf(const Parameter& parameter, const EValue& value, Call& call) {
  switch (parameter.element_kind) {
    case c10::TypeKind::TensorType: {
      if (parameter.is_element_optional) {
        c10::List<std::optional<at::Tensor>> list;
        for (const auto& tensor : Read<ListIn<std::optional<ProgramTensor>>>(value, "list of optional tensors")) {
          list.push_back(tensor ? std::optional<at::Tensor>(View(*tensor)) : std::nullopt);
        }
        return list;
      }
      c10::List<at::Tensor> list;
      for (const ProgramTensor& tensor : Read<ListIn<ProgramTensor>>(value, "list of tensors")) {
        list.push_back(TensorOf(tensor, parameter.is_written, call));
      }
      return list;
    }
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return Copy<int64_t>(Read<ListIn<int64_t>>(value, "list of integers"));
    case c10::TypeKind::FloatType:
      // PyTorch accepts integers for floating-point numbers.
      return value.isIntList() ? Copy<double>(value.toIntList())
                               : Copy<double>(Read<ListIn<double>>(value, "list of floating-point numbers"));
    case c10::TypeKind::BoolType:
      return Copy<bool>(Read<ListIn<bool>>(value, "list of bools"));
    case c10::TypeKind::NumberType:
      if (value.isIntList()) {
        return Copy<at::Scalar>(value.toIntList());
      }
      return value.isBoolList() ? Copy<at::Scalar>(value.toBoolList())
                                : Copy<at::Scalar>(Read<ListIn<double>>(value, "list of numbers"));
    default:
      TORCH_CHECK(false, "no program has values of the type ", c10::typeKindToString(parameter.element_kind), "[]");
  }
}

c10::IValue ArgumentOf(const Parameter& parameter, const EValue& value, Call& call) {
  if (value.isNone() && parameter.is_optional) {
    return {};
  }
  switch (parameter.kind) {
    case c10::TypeKind::TensorType:
      TORCH_CHECK(value.isTensor(), "a value is no tensor");
      return TensorOf(value.toTensor(), parameter.is_written, call);
    case c10::TypeKind::NumberType:
      return ScalarOf(value);
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return Read<int64_t>(value, "integer");
    case c10::TypeKind::FloatType:
      return value.isInt() ? static_cast<double>(value.toInt()) : Read<double>(value, "floating-point number");
    case c10::TypeKind::BoolType:
    case c10::TypeKind::SymBoolType:
      return Read<bool>(value, "bool");
    case c10::TypeKind::StringType:
      return std::string(Read<std::string_view>(value, "string"));
    case c10::TypeKind::DeviceObjType:
      return c10::Device(static_cast<c10::DeviceType>(Read<int64_t>(value, "device")));
    case c10::TypeKind::ListType:
      return ListOf(parameter, value, call);
    default:
      TORCH_CHECK(false, "no program has values of the type ", c10::typeKindToString(parameter.kind));
  }
}

}  // namespace

class AtenOperator::Signature {
 public:
  explicit Signature(const c10::OperatorHandle& handle) : handle_(handle) {
    const c10::FunctionSchema& schema = handle.schema();
    for (const c10::Argument& argument : schema.arguments()) {
      parameters_.push_back(ParameterOf(argument));
    }
    gives_ = !schema.returns().empty();
    if (schema.returns().size() != 1) {
      return;  // nothing, or the outputs
    }
    const c10::AliasInfo* returned = schema.returns()[0].alias_info();
    is_new_ = returned == nullptr;
    for (size_t i = 0; i < parameters_.size() && !is_new_; ++i) {
      const c10::Argument& argument = schema.arguments()[i];
      if (parameters_[i].is_written && !argument.kwarg_only() && *argument.alias_info() == *returned) {
        returned_argument_ = i;
      }
    }
  }

  // Throws the exceptions that PyTorch throws.
  void Call(Span<EValue*> values) const {
    // An operator that returns nothing may have an unused value at the end, or none.
    const bool is_complete =
        values.size() == parameters_.size() + 1 || (values.size() == parameters_.size() && !gives_);
    TORCH_CHECK(is_complete, "it takes ", parameters_.size(), " arguments, not ", values.size() - 1);
    // Without autograd, tensors are dispatched directly to the kernels of their device.
    const c10::InferenceMode no_autograd;
    struct Call call;
    call.stack.reserve(parameters_.size());
    for (size_t i = 0; i < parameters_.size(); ++i) {
      call.stack.push_back(ArgumentOf(parameters_[i], *values[i], call));
    }
    {
      ResizeWarningFilter filter(c10::WarningUtils::get_warning_handler());
      const c10::WarningUtils::WarningHandlerGuard guard(&filter);
      handle_.callBoxed(call.stack);
    }
    for (Written& written : call.written) {
      CarryBack(written);
    }
    if (returned_argument_) {
      *values[values.size() - 1] = *values[*returned_argument_];
    } else if (is_new_) {
      *values[values.size() - 1] = NumberOf(call.stack.at(0));
    }
  }

 private:
  static EValue NumberOf(const c10::IValue& value) {
    if (value.isBool()) {
      return EValue(value.toBool());
    }
    if (value.isDouble()) {
      return EValue(value.toDouble());
    }
    TORCH_CHECK(value.isInt(), "it returns a new value of the type ", value.tagKind());
    return EValue(value.toInt());
  }

  c10::OperatorHandle handle_;
  std::vector<Parameter> parameters_;
  // The return value of a call, if it is an argument or a new number.
  std::optional<size_t> returned_argument_;
  bool is_new_ = false;
  bool gives_ = false;
};

AtenOperator::AtenOperator(const char* name, const char* dispatched_name, const char* overload) : name_(name) {
  const auto handle = c10::Dispatcher::singleton().findSchema({dispatched_name, overload});
  if (handle) {
    signature_ = std::make_unique<Signature>(*handle);
  }
}

AtenOperator::~AtenOperator() = default;

void AtenOperator::Call(KernelRuntimeContext& context, Span<EValue*> stack) const {
  if (signature_ == nullptr) {
    ET_LOG(Error, "%s is not in the PyTorch that the binary is linked with", name_);
    context.fail(Error::OperatorMissing);
    return;
  }
  try {
    signature_->Call(stack);
  } catch (const c10::Error& error) {
    ET_LOG(Error, "%s: %s", name_, error.what_without_backtrace());
    context.fail(Error::InvalidArgument);
  } catch (const std::exception& error) {
    ET_LOG(Error, "%s: %s", name_, error.what());
    context.fail(Error::Internal);
  }
}

}  // namespace rules_executorch::ET_RUNTIME_NAMESPACE
