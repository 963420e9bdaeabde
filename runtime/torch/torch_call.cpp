#include "runtime/torch/torch_call.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/jit_type.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <cstring>
#include <limits>
#include <utility>

namespace rules_executorch {

using c10::FunctionSchema;
using c10::IValue;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::OpFunction;
using executorch::runtime::Span;
using executorch::runtime::TensorMeta;

TorchCall::TorchCall(const OperatorKernels& op, const FunctionSchema& schema, at::ArrayRef<IValue> arguments,
                     const CallSetting& setting)
    : op_(op), schema_(schema), arguments_(arguments), setting_(setting) {
  values_.reserve(arguments.size() + op.num_fresh + 1);
  for (size_t i = 0; i < arguments.size(); ++i) values_.push_back(Convert(arguments[i], schema.arguments()[i]));
  // As in the exporter, results have the layout of the first tensor.
  std::vector<DimOrderType> dim_order;
  if (op.num_fresh > 0) {
    const std::vector<at::Tensor> tensors = TensorsOf(arguments);
    if (!tensors.empty()) dim_order = DimOrderOf(tensors.front());
  }
  for (size_t i = 0; i < op.num_fresh; ++i) {
    fresh_.push_back(&NewTensor(setting.dtypes[i], setting.fresh_sizes[i], dim_order, nullptr, true));
    values_.emplace_back(fresh_.back()->tensor());
  }
  // The return value of the operator. In a program, it is the output tensor.
  const bool returns_last = op.num_fresh == 1 || (schema.returns().size() == 1 && num_outs_ == 1);
  values_.push_back(returns_last ? EValue(values_.back()) : EValue());
  for (EValue& value : values_) stack_.push_back(&value);
}

int64_t TorchCall::Concrete(const c10::SymInt& value) {
  if (value.is_symbolic()) {
    std::call_once(const_cast<OperatorKernels&>(op_).warned_of_symbols, [this] {
      TORCH_WARN(schema_.operator_name(),
                 ": its fake asks the kernel, which knows sizes as numbers only, so a size that ",
                 "was to stay open is fixed now. To keep it open, write the fake: @torch.library.register_fake(\"",
                 schema_.name(), "\", allow_override=True)");
    });
  }
  return value.guard_int(__FILE__, __LINE__);
}

KernelTensor& TorchCall::NewTensor(at::ScalarType dtype, const Sizes& sizes, const std::vector<DimOrderType>& dim_order,
                                   void* data, bool resizable) {
  KernelTensor& tensor = tensors_.emplace_back(
      ToLean(dtype), sizes, Span<const DimOrderType>(dim_order.data(), dim_order.size()), data, resizable);
  if (resizable) resizable_.push_back(&tensor);
  return tensor;
}

EValue TorchCall::ConvertTensor(const at::Tensor& tensor, const c10::Argument& argument) {
  if (!tensor.defined()) return {};
  const bool is_written = IsWritten(argument);
  const bool is_made_up = setting_.values.has_value() && (is_written || !tensor.is_cpu());
  TORCH_CHECK(is_made_up || tensor.is_cpu(), schema_.operator_name(), ": '", argument.name(), "' is on ",
              tensor.device(), ", and the kernel runs on the CPU");
  TORCH_CHECK(tensor.layout() == at::kStrided, schema_.operator_name(), ": '", argument.name(), "' is ",
              tensor.layout(), ", and kernels know dense tensors only");
  TORCH_CHECK(executorch::runtime::isValid(ToLean(tensor.scalar_type())), schema_.operator_name(), ": '",
              argument.name(), "' is ", tensor.scalar_type(), ", which ExecuTorch's runtime does not have");
  TORCH_CHECK(tensor.dim() <= static_cast<int64_t>(kMaxDims), schema_.operator_name(), ": '", argument.name(), "' has ",
              tensor.dim(), " dimensions, and ExecuTorch's runtime knows up to ", kMaxDims);
  Sizes sizes;
  for (const c10::SymInt& size : tensor.sym_sizes()) {
    const int64_t number = Concrete(size);
    TORCH_CHECK(number <= std::numeric_limits<SizesType>::max(), schema_.operator_name(), ": '", argument.name(),
                "' has a size of ", number, ", more than ExecuTorch's runtime can hold");
    sizes.push_back(static_cast<SizesType>(number));
  }
  const std::vector<DimOrderType> dim_order = DimOrderOf(tensor);
  if (!is_written) {
    if (is_made_up) {
      KernelTensor& view = NewTensor(tensor.scalar_type(), sizes, dim_order, nullptr, false);
      view.Fill(*setting_.values);
      made_up_.push_back({&view, &argument});
      return view.tensor();
    }
    const at::Tensor dense = dim_order.size() == sizes.size() ? tensor : tensor.contiguous();
    kept_.push_back(dense);
    return NewTensor(tensor.scalar_type(), sizes, dim_order, dense.data_ptr(), false).tensor();
  }

  const bool is_out = argument.kwarg_only();
  std::optional<Sizes> wanted;
  if (is_out) {
    if (num_outs_ < setting_.out_sizes.size()) wanted = setting_.out_sizes[num_outs_];
    ++num_outs_;
  }
  // The kernel may run again with other arguments, so that it does not receive the caller's memory.
  const bool is_direct = !is_made_up && op_.num_fresh == 0 && !wanted && dim_order.size() == sizes.size();
  // An empty tensor has no memory.
  void* const data = is_direct ? tensor.data_ptr() : nullptr;
  KernelTensor& view = NewTensor(tensor.scalar_type(), wanted ? *wanted : sizes, dim_order, data, true);
  written_.push_back({tensor, sizes, &view, is_out});
  if (is_made_up) {
    view.Fill(*setting_.values);
  } else if (data == nullptr && !is_out) {
    const at::Tensor dense = dim_order.size() == sizes.size() ? tensor : tensor.contiguous();
    std::memcpy(view.tensor().mutable_data_ptr(), dense.const_data_ptr(), dense.nbytes());
  }
  return view.tensor();
}

EValue TorchCall::ConvertList(const IValue& list, const c10::Argument& argument) {
  if (list.isDoubleList()) return memory_.Doubles(list.toDoubleVector());
  if (list.isBoolList()) return memory_.Bools(list.toBoolList());
  std::vector<EValue> elements;
  const c10::TypePtr type = list.isList() ? list.toList().elementType() : nullptr;
  const bool has_gaps = type != nullptr && type->kind() == c10::TypeKind::OptionalType;
  const bool has_tensors = type != nullptr && type->isSubtypeOf(*c10::OptionalType::ofTensor());
  for (const IValue& element : list.toListRef()) elements.push_back(Convert(element, argument));
  if (!has_tensors) return memory_.Ints(std::move(elements));
  return has_gaps ? memory_.OptionalTensors(std::move(elements)) : memory_.Tensors(std::move(elements));
}

EValue TorchCall::Convert(const IValue& value, const c10::Argument& argument) {
  if (value.isNone()) return {};
  if (value.isTensor()) return ConvertTensor(value.toTensor(), argument);
  if (value.isBool()) return EValue(value.toBool());
  if (value.isInt()) return EValue(value.toInt());
  if (value.isDouble()) return EValue(value.toDouble());
  if (value.isSymInt()) return EValue(Concrete(value.toSymInt()));
  if (value.isSymBool()) return EValue(value.toSymBool().guard_bool(__FILE__, __LINE__));
  if (value.isSymFloat()) return EValue(value.toSymFloat().guard_float(__FILE__, __LINE__));
  if (value.isDevice()) return EValue(static_cast<int64_t>(value.toDevice().type()));
  if (value.isString()) return memory_.String(value.toStringRef());
  if (value.isList()) return ConvertList(value, argument);
  TORCH_CHECK(false, schema_.operator_name(), ": '", argument.name(), "' is a ", value.tagKind(),
              ", for which ExecuTorch's runtime has no value");
}

OpFunction TorchCall::FindKernel() const {
  const Kernel* general = nullptr;
  std::vector<TensorMeta> key;
  for (EValue* value : stack_) {
    if (!value->isTensor()) continue;
    const auto order = value->toTensor().dim_order();
    key.emplace_back(value->toTensor().scalar_type(),
                     Span<DimOrderType>(const_cast<DimOrderType*>(order.data()), order.size()));
  }
  char text[executorch::runtime::internal::kKernelKeyBufSize];
  for (const Kernel& kernel : op_.kernels) {
    if (kernel.kernel_key_.is_fallback()) {
      general = &kernel;
    } else if (executorch::runtime::internal::make_kernel_key_string({key.data(), key.size()}, text, sizeof(text)) ==
                   executorch::runtime::Error::Ok &&
               std::strcmp(kernel.kernel_key_.data(), text) == 0) {
      return kernel.op_;
    }
  }
  return general != nullptr ? general->op_ : nullptr;
}

Outcome TorchCall::Run() {
  // A kernel with PyTorch's tensors calls operators. In a fake call, these operators must not be fake.
  const c10::impl::LocalDispatchKeySet keys = c10::impl::tls_local_dispatch_key_set();
  const c10::impl::ForceDispatchKeyGuard real(
      keys.included_.remove_backend(c10::BackendComponent::MetaBit) -
          c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot}),
      keys.excluded_);
  const OpFunction kernel = FindKernel();
  if (kernel == nullptr) {
    return {executorch::runtime::Error::OperatorMissing, "it has no kernel for these dtypes and dim orders"};
  }
  return CallKernel(kernel, {stack_.data(), stack_.size()}, resizable_);
}

bool TorchCall::AdoptWanted(CallSetting& setting) const {
  bool adopted = false;
  size_t out = 0;
  setting.out_sizes.resize(num_outs_);
  for (const Written& written : written_) {
    if (!written.is_out) continue;
    if (written.view->wanted_sizes()) {
      setting.out_sizes[out] = written.view->wanted_sizes();
      adopted = true;
    }
    ++out;
  }
  for (size_t i = 0; i < fresh_.size(); ++i) {
    if (!fresh_[i]->wanted_sizes()) continue;
    setting.fresh_sizes[i] = *fresh_[i]->wanted_sizes();
    adopted = true;
  }
  return adopted;
}

std::string TorchCall::UndeclaredMutation() const {
  for (const MadeUp& made_up : made_up_) {
    if (!made_up.view->IsFilled(*setting_.values)) return made_up.argument->name();
  }
  return "";
}

at::Tensor TorchCall::ToTensor(KernelTensor& kernel_tensor) const {
  const executorch::aten::Tensor tensor = kernel_tensor.tensor();
  const std::vector<int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  const std::vector<int64_t> strides(tensor.strides().begin(), tensor.strides().end());
  const at::ScalarType dtype = ToTorch(tensor.scalar_type());
  if (setting_.values) return at::Tensor(at::detail::empty_strided_meta(sizes, strides, dtype));
  void* const memory = kernel_tensor.ReleaseMemory().release();
  return at::for_blob(memory, sizes).strides(strides).deleter(KernelTensor::Free()).options(dtype).make_tensor();
}

void TorchCall::Commit() {
  for (const Written& written : written_) {
    const Sizes sizes = SizesOf(written.view->tensor());
    if (sizes != written.original_sizes) {
      at::native::resize_output(written.original, std::vector<int64_t>(sizes.begin(), sizes.end()));
    }
    if (setting_.values) continue;
    if (written.view->has_memory()) written.original.copy_(ToTensor(*written.view));
    // Autograd does this for operators that it knows.
    if (!written.original.is_inference()) written.original.unsafeGetTensorImpl()->bump_version();
  }
}

IValue TorchCall::ToIValue(const EValue& value) const {
  if (value.isInt()) return value.toInt();
  if (value.isDouble()) return value.toDouble();
  if (value.isBool()) return value.toBool();
  TORCH_CHECK(value.isTensor(), schema_.operator_name(), ": the kernel returned nothing");
  const executorch::aten::Tensor tensor = value.toTensor();
  const std::vector<int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  const std::vector<int64_t> strides(tensor.strides().begin(), tensor.strides().end());
  const at::ScalarType dtype = ToTorch(tensor.scalar_type());
  if (setting_.values) return at::Tensor(at::detail::empty_strided_meta(sizes, strides, dtype));
  // Copies, because the kernel may have returned an argument. PyTorch's operators do not return arguments.
  at::Tensor copy(at::detail::empty_strided_cpu(sizes, strides, dtype));
  std::memcpy(copy.mutable_data_ptr(), tensor.const_data_ptr(), tensor.nbytes());
  return copy;
}

std::vector<IValue> TorchCall::Results() {
  std::vector<IValue> results;
  if (!fresh_.empty()) {
    for (KernelTensor* tensor : fresh_) results.emplace_back(ToTensor(*tensor));
    return results;
  }
  for (const c10::Argument& returned : schema_.returns()) {
    if (!IsWritten(returned)) {
      results.push_back(ToIValue(values_.back()));
      continue;
    }
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const c10::Argument& argument = schema_.arguments()[i];
      if (IsWritten(argument) && argument.alias_info()->beforeSets() == returned.alias_info()->beforeSets()) {
        results.push_back(arguments_[i]);
      }
    }
  }
  return results;
}

}  // namespace rules_executorch
