#include "runtime/torch/torch_operators.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/jit_type.h>
#include <ATen/core/stack.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarType.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/torch/kernel_call.h"

namespace rules_executorch {
namespace {

using c10::FunctionSchema;
using c10::IValue;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::OpFunction;
using executorch::runtime::Span;
using executorch::runtime::TensorMeta;
using ETensor = executorch::aten::Tensor;
using Sizes = std::vector<SizesType>;

// The dtypes that a kernel is offered for a result after the one that PyTorch would expect, in this order.
constexpr at::ScalarType kDtypes[] = {at::kLong,   at::kBool,   at::kFloat,    at::kInt,   at::kByte,
                                      at::kDouble, at::kHalf,   at::kBFloat16, at::kShort, at::kChar,
                                      at::kUInt16, at::kUInt32, at::kUInt64};
constexpr size_t kMaxOffers = 4096;

// An operator as PyTorch knows it, and the kernels behind it.
struct Operator {
  std::string name;      // Of the kernels' operator, "my_ops::mul4.out".
  std::string location;  // "custom_ops.yaml:6"
  std::vector<Kernel> kernels;
  size_t
      num_fresh;  // How many of the last arguments of a kernel are results that PyTorch's caller gives no tensors for.
  std::once_flag warned_of_symbols;
};

executorch::aten::ScalarType ToLean(at::ScalarType dtype) { return static_cast<executorch::aten::ScalarType>(dtype); }
at::ScalarType ToTorch(executorch::aten::ScalarType dtype) { return static_cast<at::ScalarType>(dtype); }

bool IsWritten(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

std::vector<at::Tensor> TensorsOf(const IValue& value) {
  std::vector<at::Tensor> tensors;
  if (value.isTensor()) {
    if (value.toTensor().defined()) tensors.push_back(value.toTensor());
  } else if (value.isList()) {
    for (const IValue& element : value.toListRef()) {
      if (element.isTensor() && element.toTensor().defined()) tensors.push_back(element.toTensor());
    }
  }
  return tensors;
}

std::vector<at::Tensor> TensorsOf(at::ArrayRef<IValue> values) {
  std::vector<at::Tensor> tensors;
  for (const IValue& value : values) {
    for (at::Tensor& tensor : TensorsOf(value)) tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// How the tensor lies in memory, if that is densely in an order that programs have; empty if not.
std::vector<DimOrderType> DimOrderOf(const at::Tensor& tensor) {
  std::vector<DimOrderType> order(tensor.dim());
  std::iota(order.begin(), order.end(), 0);
  if (tensor.is_contiguous()) return order;
  const bool channels_last = (tensor.dim() == 4 && tensor.is_contiguous(at::MemoryFormat::ChannelsLast)) ||
                             (tensor.dim() == 5 && tensor.is_contiguous(at::MemoryFormat::ChannelsLast3d));
  if (!channels_last) return {};
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

Sizes SizesOf(const ETensor& tensor) { return {tensor.sizes().begin(), tensor.sizes().end()}; }

// What a call is made with besides the caller's arguments.
struct Setting {
  // The dtypes of the fresh results, and what they are at first.
  std::vector<at::ScalarType> dtypes;
  std::vector<Sizes> fresh_sizes;
  // By the caller's out arguments: sizes that a kernel would give them and that they have not the dimensions for.
  std::vector<std::optional<Sizes>> out_sizes;
  // In a fake call: what is in the tensors that have no memory.
  std::optional<Values> values;
};

// One call of a kernel: PyTorch's values as the runtime's.
class Call {
 public:
  Call(const Operator& op, const FunctionSchema& schema, at::ArrayRef<IValue> arguments, const Setting& setting);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Outcome Run();

  // After a call that failed: takes over the numbers of dimensions that the kernel wants. False if it wants no others.
  bool AdoptWanted(Setting& setting) const;

  const std::vector<KernelTensor*>& fresh() const { return fresh_; }
  const std::vector<KernelTensor*>& resizable() const { return resizable_; }

  // The name of a tensor without memory that the kernel wrote to although the schema does not say so; empty if none.
  std::string UndeclaredMutation() const;

  // Makes the caller's tensors what the kernel made of them.
  void Commit();
  // What the operator returns.
  std::vector<IValue> Results();

 private:
  struct Written {
    at::Tensor original;
    Sizes original_sizes;
    KernelTensor* view;
    bool is_out;
  };
  struct MadeUp {
    KernelTensor* view;
    const c10::Argument* argument;
  };

  EValue Convert(const IValue& value, const c10::Argument& argument);
  EValue ConvertTensor(const at::Tensor& tensor, const c10::Argument& argument);
  EValue ConvertList(const IValue& list, const c10::Argument& argument);
  int64_t Concrete(const c10::SymInt& value);
  KernelTensor& NewTensor(at::ScalarType dtype, const Sizes& sizes, const std::vector<DimOrderType>& dim_order,
                          void* data, bool resizable);
  OpFunction FindKernel() const;
  IValue ToIValue(const EValue& value) const;
  at::Tensor ToTensor(KernelTensor& tensor) const;

  template <typename T>
  EValue NewBoxedList(std::vector<EValue> elements, std::vector<T> memory,
                      std::deque<std::pair<std::vector<T>, BoxedEvalueList<T>>>& lists);

  const Operator& op_;
  const FunctionSchema& schema_;
  const at::ArrayRef<IValue> arguments_;
  const Setting& setting_;

  std::deque<KernelTensor> tensors_;
  std::vector<KernelTensor*> resizable_;
  std::vector<KernelTensor*> fresh_;
  std::vector<Written> written_;
  std::vector<MadeUp> made_up_;
  size_t num_outs_ = 0;

  // What values point to.
  std::vector<at::Tensor> kept_;
  std::deque<std::string> strings_;
  std::deque<executorch::aten::ArrayRef<char>> string_refs_;
  std::deque<std::vector<double>> doubles_;
  std::deque<executorch::aten::ArrayRef<double>> double_refs_;
  std::deque<std::unique_ptr<bool[]>> bools_;
  std::deque<executorch::aten::ArrayRef<bool>> bool_refs_;
  std::deque<std::vector<EValue>> elements_;
  std::deque<std::vector<EValue*>> element_pointers_;
  std::deque<std::pair<std::vector<int64_t>, BoxedEvalueList<int64_t>>> int_lists_;
  std::deque<std::pair<std::vector<ETensor>, BoxedEvalueList<ETensor>>> tensor_lists_;
  std::deque<std::pair<std::vector<std::optional<ETensor>>, BoxedEvalueList<std::optional<ETensor>>>> gap_lists_;

  std::vector<EValue> values_;
  std::vector<EValue*> stack_;
};

Call::Call(const Operator& op, const FunctionSchema& schema, at::ArrayRef<IValue> arguments, const Setting& setting)
    : op_(op), schema_(schema), arguments_(arguments), setting_(setting) {
  values_.reserve(arguments.size() + op.num_fresh + 1);
  for (size_t i = 0; i < arguments.size(); ++i) values_.push_back(Convert(arguments[i], schema.arguments()[i]));
  // As the exporter does: results are laid out like the first tensor.
  std::vector<DimOrderType> dim_order;
  if (op.num_fresh > 0) {
    const std::vector<at::Tensor> tensors = TensorsOf(arguments);
    if (!tensors.empty()) dim_order = DimOrderOf(tensors.front());
  }
  for (size_t i = 0; i < op.num_fresh; ++i) {
    fresh_.push_back(&NewTensor(setting.dtypes[i], setting.fresh_sizes[i], dim_order, nullptr, true));
    values_.emplace_back(fresh_.back()->tensor());
  }
  // The value that the operator returns: a program has the tensor there that is written to.
  const bool returns_last = op.num_fresh == 1 || (schema.returns().size() == 1 && num_outs_ == 1);
  values_.push_back(returns_last ? EValue(values_.back()) : EValue());
  for (EValue& value : values_) stack_.push_back(&value);
}

int64_t Call::Concrete(const c10::SymInt& value) {
  if (value.is_symbolic()) {
    std::call_once(const_cast<Operator&>(op_).warned_of_symbols, [this] {
      TORCH_WARN(schema_.operator_name(),
                 ": its fake asks the kernel, which knows sizes as numbers only, so a size that ",
                 "was to stay open is fixed now. To keep it open, write the fake: @torch.library.register_fake(\"",
                 schema_.name(), "\", allow_override=True)");
    });
  }
  return value.guard_int(__FILE__, __LINE__);
}

KernelTensor& Call::NewTensor(at::ScalarType dtype, const Sizes& sizes, const std::vector<DimOrderType>& dim_order,
                              void* data, bool resizable) {
  KernelTensor& tensor = tensors_.emplace_back(
      ToLean(dtype), sizes, Span<const DimOrderType>(dim_order.data(), dim_order.size()), data, resizable);
  if (resizable) resizable_.push_back(&tensor);
  return tensor;
}

EValue Call::ConvertTensor(const at::Tensor& tensor, const c10::Argument& argument) {
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
  // The kernel may be called again, so it does not get the memory itself.
  const bool is_direct = !is_made_up && op_.num_fresh == 0 && !wanted && dim_order.size() == sizes.size();
  // An empty tensor has no memory to give.
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

template <typename T>
EValue Call::NewBoxedList(std::vector<EValue> elements, std::vector<T> memory,
                          std::deque<std::pair<std::vector<T>, BoxedEvalueList<T>>>& lists) {
  std::vector<EValue>& kept = elements_.emplace_back(std::move(elements));
  std::vector<EValue*>& pointers = element_pointers_.emplace_back();
  pointers.reserve(kept.size() + 1);
  for (EValue& element : kept) pointers.push_back(&element);
  auto& [list_memory, list] = lists.emplace_back(std::move(memory), BoxedEvalueList<T>());
  list = BoxedEvalueList<T>(pointers.data(), list_memory.data(), static_cast<int>(kept.size()));
  return EValue(&list);
}

EValue Call::ConvertList(const IValue& list, const c10::Argument& argument) {
  // The runtime wants memory even for lists of nothing: of each memory there is one more.
  if (list.isDoubleList()) {
    std::vector<double>& kept = doubles_.emplace_back(list.toDoubleVector());
    return EValue(&double_refs_.emplace_back(kept.data(), kept.size()));
  }
  if (list.isBoolList()) {
    const c10::List<bool> from = list.toBoolList();
    std::unique_ptr<bool[]>& kept = bools_.emplace_back(new bool[from.size() + 1]);
    for (size_t i = 0; i < from.size(); ++i) kept[i] = from[i];
    return EValue(&bool_refs_.emplace_back(kept.get(), from.size()));
  }
  std::vector<EValue> elements;
  const c10::TypePtr type = list.isList() ? list.toList().elementType() : nullptr;
  const bool has_gaps = type != nullptr && type->kind() == c10::TypeKind::OptionalType;
  const bool has_tensors = type != nullptr && type->isSubtypeOf(*c10::OptionalType::ofTensor());
  for (const IValue& element : list.toListRef()) elements.push_back(Convert(element, argument));
  const size_t size = elements.size() + 1;
  if (!has_tensors) return NewBoxedList(std::move(elements), std::vector<int64_t>(size), int_lists_);
  if (has_gaps) return NewBoxedList(std::move(elements), std::vector<std::optional<ETensor>>(size), gap_lists_);
  return NewBoxedList(std::move(elements), std::vector<ETensor>(size, ETensor(nullptr)), tensor_lists_);
}

EValue Call::Convert(const IValue& value, const c10::Argument& argument) {
  if (value.isNone()) return {};
  if (value.isTensor()) return ConvertTensor(value.toTensor(), argument);
  if (value.isBool()) return EValue(value.toBool());
  if (value.isInt()) return EValue(value.toInt());
  if (value.isDouble()) return EValue(value.toDouble());
  if (value.isSymInt()) return EValue(Concrete(value.toSymInt()));
  if (value.isSymBool()) return EValue(value.toSymBool().guard_bool(__FILE__, __LINE__));
  if (value.isSymFloat()) return EValue(value.toSymFloat().guard_float(__FILE__, __LINE__));
  if (value.isDevice()) return EValue(static_cast<int64_t>(value.toDevice().type()));
  if (value.isString()) {
    std::string& kept = strings_.emplace_back(value.toStringRef());
    return EValue(&string_refs_.emplace_back(kept.data(), kept.size()));
  }
  if (value.isList()) return ConvertList(value, argument);
  TORCH_CHECK(false, schema_.operator_name(), ": '", argument.name(), "' is a ", value.tagKind(),
              ", for which ExecuTorch's runtime has no value");
}

OpFunction Call::FindKernel() const {
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

Outcome Call::Run() {
  // A kernel that takes PyTorch's tensors calls operators, which a fake call must not make fake.
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

bool Call::AdoptWanted(Setting& setting) const {
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

std::string Call::UndeclaredMutation() const {
  for (const MadeUp& made_up : made_up_) {
    if (!made_up.view->IsFilled(*setting_.values)) return made_up.argument->name();
  }
  return "";
}

at::Tensor Call::ToTensor(KernelTensor& kernel_tensor) const {
  const ETensor tensor = kernel_tensor.tensor();
  const std::vector<int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  const std::vector<int64_t> strides(tensor.strides().begin(), tensor.strides().end());
  const at::ScalarType dtype = ToTorch(tensor.scalar_type());
  if (setting_.values) return at::Tensor(at::detail::empty_strided_meta(sizes, strides, dtype));
  void* const memory = kernel_tensor.ReleaseMemory().release();
  return at::for_blob(memory, sizes).strides(strides).deleter(KernelTensor::Free()).options(dtype).make_tensor();
}

void Call::Commit() {
  for (const Written& written : written_) {
    const Sizes sizes = SizesOf(written.view->tensor());
    if (sizes != written.original_sizes) {
      at::native::resize_output(written.original, std::vector<int64_t>(sizes.begin(), sizes.end()));
    }
    if (setting_.values) continue;
    if (written.view->has_memory()) written.original.copy_(ToTensor(*written.view));
    // What autograd would do in the place of an operator that knows it.
    if (!written.original.is_inference()) written.original.unsafeGetTensorImpl()->bump_version();
  }
}

IValue Call::ToIValue(const EValue& value) const {
  if (value.isInt()) return value.toInt();
  if (value.isDouble()) return value.toDouble();
  if (value.isBool()) return value.toBool();
  TORCH_CHECK(value.isTensor(), schema_.operator_name(), ": the kernel returned nothing");
  const ETensor tensor = value.toTensor();
  const std::vector<int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  const std::vector<int64_t> strides(tensor.strides().begin(), tensor.strides().end());
  const at::ScalarType dtype = ToTorch(tensor.scalar_type());
  if (setting_.values) return at::Tensor(at::detail::empty_strided_meta(sizes, strides, dtype));
  // The kernel may have returned an argument, which PyTorch's operators do not.
  at::Tensor copy(at::detail::empty_strided_cpu(sizes, strides, dtype));
  std::memcpy(copy.mutable_data_ptr(), tensor.const_data_ptr(), tensor.nbytes());
  return copy;
}

std::vector<IValue> Call::Results() {
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

// The shape that a result has before the kernel says: as of an elementwise operator.
Sizes FirstSizes(const std::vector<at::Tensor>& tensors) {
  Sizes common;
  for (const at::Tensor& tensor : tensors) {
    Sizes sizes;
    for (const c10::SymInt& size : tensor.sym_sizes()) {
      sizes.push_back(static_cast<SizesType>(size.guard_int(__FILE__, __LINE__)));
    }
    if (sizes.size() > common.size()) common.insert(common.begin(), sizes.size() - common.size(), 1);
    for (size_t i = 0; i < sizes.size(); ++i) {
      SizesType& size = common[common.size() - sizes.size() + i];
      if (size == 1) size = sizes[i];
    }
  }
  return common;
}

// The dtypes that a kernel is offered for a result, in order: those of the arguments of the type ScalarType, the common
// one of the tensors, and all others.
std::vector<at::ScalarType> Dtypes(const FunctionSchema& schema, at::ArrayRef<IValue> arguments) {
  std::vector<at::ScalarType> dtypes;
  const auto add = [&dtypes](at::ScalarType dtype) {
    if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) dtypes.push_back(dtype);
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    c10::TypePtr type = schema.arguments()[i].real_type();
    if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
    if (type->kind() == c10::TypeKind::ScalarTypeType && arguments[i].isInt()) add(arguments[i].toScalarType());
  }
  std::optional<at::ScalarType> common;
  for (const at::Tensor& tensor : TensorsOf(arguments)) {
    const at::ScalarType dtype = tensor.scalar_type();
    if (!common) common = dtype;
    if (*common == dtype || c10::isQIntType(*common) || c10::isQIntType(dtype)) continue;
    common = c10::promoteTypes(*common, dtype);
  }
  add(common.value_or(at::kFloat));
  for (const at::ScalarType dtype : kDtypes) add(dtype);
  return dtypes;
}

// The next of all combinations of dtypes, the last of them changing first; false after the last.
bool Advance(std::vector<size_t>& combination, size_t count) {
  for (size_t i = combination.size(); i-- > 0;) {
    if (++combination[i] < count) return true;
    combination[i] = 0;
  }
  return false;
}

// The kernels of an operator behind PyTorch's dispatcher.
class TorchKernel : public c10::OperatorKernel {
 public:
  explicit TorchKernel(Operator& op) : op_(op) {}

  void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    const FunctionSchema& schema = handle.schema();
    const size_t count = schema.arguments().size();
    const at::ArrayRef<IValue> arguments = torch::jit::last(*stack, count);
    std::vector<IValue> results = Run(schema, arguments);
    torch::jit::drop(*stack, count);
    for (IValue& result : results) stack->push_back(std::move(result));
  }

 private:
  std::vector<IValue> Run(const FunctionSchema& schema, at::ArrayRef<IValue> arguments) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !op_.kernels.empty(), schema.operator_name(), " (", op_.location, "): it has no kernel\n",
        "  Likely cause: the library that defines it was given no kernels\n",
        "  Fix: give it kernels, kernel_deps or custom_ops_aten_kernel_deps, or write a fake, ",
        "@torch.library.register_fake(\"", schema.name(), "\", allow_override=True), to export ", "with it");
    const std::vector<at::Tensor> tensors = TensorsOf(arguments);
    const bool is_fake =
        std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) { return tensor.is_meta(); }) ||
        c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::Meta);
    Setting setting;
    if (is_fake) {
      CheckHasFake(schema);
      setting.values = Values::kZeros;
    }
    const std::unique_ptr<Call> call = Find(schema, arguments, tensors, setting);
    if (is_fake) CheckFake(schema, arguments, *call, setting);
    call->Commit();
    return call->Results();
  }

  void CheckHasFake(const FunctionSchema& schema) const {
    for (const c10::Argument& returned : schema.returns()) {
      TORCH_CHECK_NOT_IMPLEMENTED(
          returned.type()->kind() == c10::TypeKind::TensorType, schema.operator_name(), " (", op_.location,
          "): it returns ", returned.type()->str(), ", which is not known without the values of its arguments\n",
          FakeFix(schema, "only a tensor's shape and dtype can be found out ahead, by calling the kernel"));
    }
  }

  // A call that the kernel accepts.
  std::unique_ptr<Call> Find(const FunctionSchema& schema, at::ArrayRef<IValue> arguments,
                             const std::vector<at::Tensor>& tensors, Setting& setting) const {
    std::vector<at::ScalarType> dtypes;
    std::vector<Sizes> shapes(1);
    if (op_.num_fresh > 0) {
      dtypes = Dtypes(schema, arguments);
      shapes[0] = FirstSizes(tensors);
      // Kernels may look at the number of dimensions before they resize.
      const size_t dim = shapes[0].size();
      for (size_t other = dim + 2; other-- > 0;) {
        if (other != dim && other <= kMaxDims) shapes.emplace_back(other, 1);
      }
    }
    std::optional<Outcome> first;
    for (const Sizes& sizes : shapes) {
      std::vector<size_t> combination(op_.num_fresh);
      size_t offers = 0;
      do {
        setting.dtypes.clear();
        for (const size_t i : combination) setting.dtypes.push_back(dtypes[i]);
        setting.fresh_sizes.assign(op_.num_fresh, sizes);
        setting.out_sizes.clear();
        Outcome outcome;
        if (auto call = Offer(schema, arguments, setting, outcome)) return call;
        if (!first) first = std::move(outcome);
      } while (++offers < kMaxOffers && Advance(combination, dtypes.size()));
    }
    Refuse(schema, *first, dtypes);
  }

  // A call that the kernel accepts, with results of some dtypes; null, and how it went, if it accepts none.
  std::unique_ptr<Call> Offer(const FunctionSchema& schema, at::ArrayRef<IValue> arguments, Setting& setting,
                              Outcome& outcome) const {
    // Each call may tell the dimensions of one more result.
    for (size_t calls = 0; calls <= schema.returns().size() + 1; ++calls) {
      auto call = std::make_unique<Call>(op_, schema, arguments, setting);
      outcome = call->Run();
      if (outcome.ok()) {
        CheckShapesKnown(schema, arguments, *call, setting);
        return call;
      }
      if (!call->AdoptWanted(setting)) break;
    }
    return nullptr;
  }

  [[noreturn]] void Refuse(const FunctionSchema& schema, const Outcome& outcome,
                           const std::vector<at::ScalarType>& dtypes) const {
    std::string offered;
    for (const at::ScalarType dtype : dtypes) offered += (offered.empty() ? "" : ", ") + std::string(toString(dtype));
    if (op_.num_fresh > 0)
      offered = "\n  It was called with results of the dtypes " + offered + "; this is of the first.";
    TORCH_CHECK(false, schema.operator_name(), " (", op_.location, "): the kernel of ", op_.name, " refused the call, ",
                executorch::runtime::to_string(outcome.error), outcome.log.empty() ? "" : ": ", outcome.log, offered,
                "\n  Likely cause: the arguments are none that the kernel handles; a program with them would fail, too",
                "\n  Fix: call it with others, or extend the kernel");
  }

  // A kernel that takes a result as it is must be one that takes it in no other shape, or resizes it to this one.
  void CheckShapesKnown(const FunctionSchema& schema, at::ArrayRef<IValue> arguments, const Call& call,
                        Setting setting) const {
    bool all_known = true;
    for (size_t i = 0; i < call.fresh().size(); ++i) {
      if (call.fresh()[i]->was_resized()) continue;
      all_known = false;
      Sizes& sizes = setting.fresh_sizes[i];
      for (SizesType& size : sizes) ++size;
      if (sizes.empty()) sizes = {2};
    }
    if (all_known) return;
    Call other(op_, schema, arguments, setting);
    if (!other.Run().ok()) return;
    bool is_unknown = false;
    for (size_t i = 0; i < call.fresh().size(); ++i) {
      is_unknown |= SizesOf(call.fresh()[i]->tensor()) != SizesOf(other.fresh()[i]->tensor());
    }
    TORCH_CHECK(
        !is_unknown, schema.operator_name(), " (", op_.location, "): the kernel of ", op_.name,
        " takes results of any shape, so that theirs is not known\n",
        "  Likely cause: the kernel does not resize its out arguments\n",
        "  Fix: call executorch::runtime::resize_tensor(out, sizes) in the kernel before it writes, or define \"",
        schema.name(), "\" by hand before this library is loaded");
  }

  // What the fake says must not depend on the values that it made up.
  void CheckFake(const FunctionSchema& schema, at::ArrayRef<IValue> arguments, const Call& call,
                 Setting setting) const {
    CheckMutation(schema, call);
    for (const Values values : {Values::kOnes, Values::kMixed}) {
      setting.values = values;
      Call other(op_, schema, arguments, setting);
      if (!other.Run().ok()) continue;
      CheckMutation(schema, other);
      for (size_t i = 0; i < call.resizable().size(); ++i) {
        TORCH_CHECK_NOT_IMPLEMENTED(
            SizesOf(call.resizable()[i]->tensor()) == SizesOf(other.resizable()[i]->tensor()), schema.operator_name(),
            " (", op_.location, "): the shape of what it returns depends on the values of its arguments\n",
            FakeFix(schema, "the operator is like torch.nonzero, whose result is as long as its argument says"));
      }
    }
  }

  void CheckMutation(const FunctionSchema& schema, const Call& call) const {
    const std::string name = call.UndeclaredMutation();
    TORCH_CHECK(name.empty(), schema.operator_name(), " (", op_.location, "): the kernel of ", op_.name, " writes to '",
                name, "', which is not declared\n  Likely cause: the schema lacks an annotation\n",
                "  Fix: declare the argument as Tensor(a!) ", name,
                ", with a letter of its own, or do not write to it");
  }

  std::string FakeFix(const FunctionSchema& schema, const std::string& cause) const {
    return "  Likely cause: " + cause + "\n  Fix: write the fake, @torch.library.register_fake(\"" + schema.name() +
           (schema.overload_name().empty() ? "" : "." + schema.overload_name()) + "\", allow_override=True)";
  }

  Operator& op_;
};

// Never destroyed: Python may call operators until the very end.
std::deque<Operator>& Operators() {
  static auto* const operators = new std::deque<Operator>();
  return *operators;
}

torch::Library& Fragment(const std::string& ns) {
  static auto* const libraries = new std::deque<std::pair<std::string, torch::Library>>();
  for (auto& [name, library] : *libraries) {
    if (name == ns) return library;
  }
  return libraries
      ->emplace_back(std::piecewise_construct, std::forward_as_tuple(ns),
                     std::forward_as_tuple(torch::Library::FRAGMENT, ns, std::nullopt, __FILE__, __LINE__))
      .second;
}

void Define(const TorchOperator& declared, const std::string& schema_text, size_t num_fresh, const std::string& name,
            const std::vector<Kernel>& kernels) {
  const FunctionSchema schema = torch::schema((std::string(declared.ns) + "::" + schema_text).c_str());
  if (const auto defined = c10::Dispatcher::singleton().findSchema(schema.operator_name())) {
    if (num_fresh == 0 && defined->schema() != schema) {
      TORCH_WARN(schema.operator_name(), " (", declared.location, ") is defined already, as ", defined->schema(),
                 "; this definition is left out: ", schema);
    }
    return;
  }
  Operator& op = Operators().emplace_back();
  op.name = name;
  op.location = declared.location;
  op.kernels = kernels;
  op.num_fresh = num_fresh;
  torch::Library& library = Fragment(declared.ns);
  library.def(schema_text.c_str());
  const std::string own_name = schema_text.substr(0, schema_text.find('('));
  // For each device, so that a call without tensors finds it too; a fake has a key of its own.
  for (const c10::DispatchKey key : {c10::DispatchKey::CompositeExplicitAutograd, c10::DispatchKey::Meta}) {
    library.impl(own_name.c_str(),
                 torch::dispatch(key, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<TorchKernel>(op))));
  }
}

}  // namespace

bool DefineTorchOperators(Span<const TorchOperator> operators, Span<const Kernel> kernels) {
  for (const TorchOperator& op : operators) {
    const std::string schema = op.schema;
    const std::string name = std::string(op.ns) + "::" + schema.substr(0, schema.find('('));
    std::vector<Kernel> own;
    for (const Kernel& kernel : kernels) {
      if (name == kernel.name_) own.push_back(kernel);
    }
    Define(op, schema, 0, name, own);
    if (op.functional != nullptr) {
      const size_t num_returns = torch::schema((std::string(op.ns) + "::" + op.functional).c_str()).returns().size();
      Define(op, op.functional, num_returns, name, own);
    }
  }
  return true;
}

}  // namespace rules_executorch
