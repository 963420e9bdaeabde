#include "runtime/runner/program.h"

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "runtime/runner/failure.h"
#include "runtime/runner/program_check.h"
#include "runtime/runner/tensor_file.h"

namespace rules_executorch {
namespace {

using executorch::aten::ScalarType;
using executorch::extension::BufferDataLoader;
using executorch::extension::TensorPtr;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::EventTracer;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::MethodMeta;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::Tag;
using executorch::runtime::TensorInfo;

// Rounds up to a multiple of a cache line.
size_t Aligned(size_t size) { return (size + kLineBytes - 1) / kLineBytes * kLineBytes; }

// `get_tensor` is only called for tensors, because it logs an error for other values.
template <typename GetTensor>
Port MakePort(Result<Tag> tag, GetTensor get_tensor) {
  Port port{tag.ok() ? *tag : Tag::None, {}};
  if (!port.is_tensor()) {
    return port;
  }
  const Result<TensorInfo> tensor = get_tensor();
  if (tensor.ok()) {
    port.layout = {tensor->scalar_type(),
                   {tensor->sizes().begin(), tensor->sizes().end()},
                   {tensor->dim_order().begin(), tensor->dim_order().end()}};
  }
  return port;
}

// The operators that ExecuTorch has logged as missing during the loading of a method.
std::vector<std::string> MissingOperators() {
  std::set<std::string> names;
  for (const std::string& message : LogMessages()) {
    const size_t at = message.find("Missing operator: [");
    const size_t end = at == std::string::npos ? at : message.find("] ", at);
    if (end != std::string::npos) {
      names.insert(message.substr(end + 2));
    }
  }
  return {names.begin(), names.end()};
}

// A value as an argument of a method, with its memory.
struct Argument {
  TensorData data;
  TensorPtr tensor;
};

size_t Bytes(const Value& value) { return value ? value->bytes.size() : 0; }

EValue ToEValue(const Value& value, const Port& port, Argument* argument) {
  if (!value) {
    return EValue();
  }
  TensorData& data = argument->data;
  data = *value;
  switch (port.tag) {
    case Tag::Int:
      return EValue(static_cast<int64_t>(ElementNumber(data, 0)));
    case Tag::Double:
      return EValue(ElementNumber(data, 0));
    case Tag::Bool:
      return EValue(ElementNumber(data, 0) != 0);
    default:
      data = WithDimOrder(data, port.layout.dim_order);
      // The largest size that the program declares, because a kernel of a damaged program may write to the input.
      data.bytes.resize(std::max(data.bytes.size(), port.layout.nbytes()));
      argument->tensor = executorch::extension::make_tensor_ptr(
          data.layout.sizes, data.bytes.data(), data.layout.dim_order, data.layout.strides(), data.layout.dtype);
      return EValue(*argument->tensor);
  }
}

[[noreturn]] void Refuse(const std::string& path, const std::string& found) {
  Fail(path + " is not an ExecuTorch program that can run here: " + found + ".",
       "the file is damaged or cut short, is no .pte file, is for a newer version of ExecuTorch, or leaves memory to "
       "its "
       "caller.",
       "export the model again; the version that exports must not be newer than the runtime's.");
}

[[noreturn]] void RefuseWeights(const std::string& path, const std::string& found) {
  Fail("cannot use the weights " + path + ": " + found + ".",
       "the file is damaged or cut short, or is no file of weights.",
       "give the .weights.ptd file of the program's export with --weights=FILE.");
}

// Checks that the weights have all data that a program needs.
void CheckWeights(const std::string& program, const std::vector<ExternalData>& needed, const std::string& path,
                  const TensorFile& weights) {
  const auto refuse = [&](const ExternalData& one, const std::string& found) {
    const std::vector<std::string_view> keys = weights.Keys();
    Fail("the weights " + path + " are not those of " + program + ": the program needs " + one.key + ", " + found + ".",
         weights.has_samples() ? "the file has samples, such as " + std::string(keys.front()) + ", and no weights."
                               : "the weights are those of another program, or of another export of the model.",
         "give the .weights.ptd file of the program's export with --weights=FILE.");
  };
  for (const ExternalData& one : needed) {
    const std::optional<TensorFile::Data> data = weights.Find(one.key);
    if (!data) {
      refuse(one, "which is not in the file");
    } else if (one.layout && (!data->layout || !(*data->layout == *one.layout))) {
      refuse(one, "as " + Describe(*one.layout) + ", which is " +
                      (data->layout ? Describe(*data->layout) : "no tensor") + " in the file");
    } else if (one.layout && data->range.begin % executorch::runtime::elementSize(one.layout->dtype) != 0) {
      weights.Refuse(one.key, "begins at a byte that no element of its dtype may begin at");
    } else if (data->range.size < one.size) {
      refuse(one, "with " + std::to_string(one.size) + " bytes, and the file has " + std::to_string(data->range.size));
    }
  }
}

// A loader of the weights; nullptr for none.
std::unique_ptr<BufferDataLoader> WeightsLoader(const std::optional<LoadedFile>& weights) {
  return weights ? std::make_unique<BufferDataLoader>(weights->data(), weights->size()) : nullptr;
}

}  // namespace

LoadedFile::LoadedFile(const std::string& path, Load load, const std::string& kind) {
  File file(path);
  size_ = file.size();
  if (load == Load::kMap) {
    mapped_ = file.Map();
    data_ = mapped_.data();
  } else {
    read_ = AllocateLines(size_);
    data_ = read_.get();
    file.Read(data_);
  }
  if (!file.problem().empty()) {
    Fail("cannot read the " + kind + " " + path + ": " + file.problem() + ".",
         "the path is wrong, or the binary was moved away from its runfiles.",
         "give a " + std::string(kind == "program" ? ".pte" : ".ptd") + " file with --" + kind +
             "=FILE, or run the binary where the build put it.");
  }
}

ProgramFiles::ProgramFiles(const std::string& path, const std::string& weights_path, Load load)
    : program(path, load, "program") {
  const std::vector<ExternalData> needed = CheckProgram(program.data(), program.size(), path, Refuse);
  if (needed.empty()) {
    return;
  }
  if (weights_path.empty()) {
    Fail(path + " needs constants of another file, such as " + needed.front().key + ".",
         "the program was exported with weights = \"external\".",
         "give the .weights.ptd file of its export with --weights=FILE.");
  }
  weights.emplace(weights_path, load, "weights");
  CheckWeights(path, needed, weights_path, TensorFile(weights->data(), weights->size(), weights_path, RefuseWeights));
}

Program::Program(const std::string& path, const std::string& weights_path, Load load,
                 std::unique_ptr<EventTracer> tracer)
    : path_(path),
      files_(path, weights_path, load),
      runtime_memory_(new CountingAllocator),
      scratch_memory_(new CountingAllocator),
      module_(std::make_unique<BufferDataLoader>(files_.program.data(), files_.program.size()),
              std::unique_ptr<MemoryAllocator>(runtime_memory_), std::unique_ptr<MemoryAllocator>(scratch_memory_),
              std::move(tracer), WeightsLoader(files_.weights)) {
  const Error error = module_.load(executorch::runtime::Program::Verification::InternalConsistency);
  if (error != Error::Ok) {
    Refuse(path, executorch::runtime::to_string(error));
  }
}

std::vector<std::string> Program::MethodNames() {
  const auto names = module_.method_names();
  std::vector<std::string> sorted;
  if (names.ok()) {
    sorted.assign(names->begin(), names->end());
    std::sort(sorted.begin(), sorted.end());
  }
  return sorted;
}

Signature Program::GetSignature(const std::string& method) {
  const std::vector<std::string> names = MethodNames();
  if (std::find(names.begin(), names.end(), method) == names.end()) {
    Fail(path_ + " has no method " + method + "; it has: " + Join(names) + ".",
         "the name is misspelt, or the model was exported under other names.", "give one of these with --method=NAME.");
  }
  Signature signature;
  const Result<MethodMeta> meta = module_.method_meta(method);
  for (size_t i = 0; meta.ok() && i < meta->num_inputs(); ++i) {
    signature.inputs.push_back(MakePort(meta->input_tag(i), [&] { return meta->input_tensor_meta(i); }));
  }
  for (size_t i = 0; meta.ok() && i < meta->num_outputs(); ++i) {
    signature.outputs.push_back(MakePort(meta->output_tag(i), [&] { return meta->output_tensor_meta(i); }));
  }
  return signature;
}

void Program::TakePlannedMemory(const std::string& method) {
  const Result<MethodMeta> meta = module_.method_meta(method);
  std::vector<size_t> sizes;
  size_t total = 0;
  buffers_.clear();
  for (size_t i = 0; meta.ok() && i < meta->num_memory_planned_buffers(); ++i) {
    sizes.push_back(static_cast<size_t>(meta->memory_planned_buffer_size(i).get()));
    const size_t aligned = Aligned(sizes.back());
    total = aligned > SIZE_MAX - total ? SIZE_MAX : total + aligned;
  }
  memory_.reset(static_cast<uint8_t*>(std::calloc(total > SIZE_MAX - kLineBytes ? SIZE_MAX : total + kLineBytes, 1)));
  if (memory_ == nullptr) {
    Fail("method " + method + " plans " + std::to_string(total) + " bytes of memory, which cannot be had.",
         "the model is too large for this machine, or the file is damaged.",
         "run it where there is more memory; export the model again if it should not need as much.");
  }
  RequestHugePages(memory_.get(), total);
  const auto address = reinterpret_cast<uintptr_t>(memory_.get());
  uint8_t* next = memory_.get() + (Aligned(address) - address);
  for (size_t size : sizes) {
    buffers_.emplace_back(next, size);
    next += Aligned(size);
  }
  most_planned_ = std::max(most_planned_, std::accumulate(sizes.begin(), sizes.end(), size_t{0}));
  planned_memory_.emplace(Span<Span<uint8_t>>(buffers_.data(), buffers_.size()));
}

void Program::LoadMethod(const std::string& method) {
  const Result<MethodMeta> meta = module_.method_meta(method);
  for (size_t i = 0; meta.ok() && i < meta->num_backends(); ++i) {
    const auto name = meta->get_backend_name(i);
    if (name.ok() && executorch::runtime::get_backend_class(*name) == nullptr) {
      Fail(std::string("method ") + method + " needs the backend " + *name + ", which is not in this binary.",
           "the model was lowered to a delegate whose runtime is not linked.",
           "add the backend's library to the deps of the binary, or export without that partitioner.");
    }
  }
  if (!loaded_.empty()) {
    module_.unload_method(loaded_);
  }
  TakePlannedMemory(method);
  loaded_ = method;
  const Error error = module_.load_method(method, &*planned_memory_);
  if (error == Error::OperatorMissing) {
    const std::vector<std::string> missing = MissingOperators();
    Fail("method " + method + " needs operators that this binary does not have: " + Join(missing) + ".",
         "the binary was built for another program, or its operator library selects fewer operators.",
         "build it with an executorch_generated_lib that selects them, e.g. et_operator_library(models = [...]) with "
         "this program; --list_operators prints what is linked.");
  }
  if (error != Error::Ok) {
    Fail("cannot load method " + method + " (" + executorch::runtime::to_string(error) + ").",
         "the program is damaged, or needs more memory than there is.", "see the log below; export the model again.");
  }
}

std::string Program::SetInput(const std::string& method, const Port& port, const EValue& value, size_t index) {
  if (module_.set_input(method, value, index) == Error::Ok) {
    return "";
  }
  return port.is_tensor() ? "has another shape, and the program allows one only"
                          : "is not the value that the program was exported with";
}

std::vector<EValue> Program::Execute(const std::string& method) {
  auto outputs = module_.execute(method);
  if (!outputs.ok()) {
    Fail("method " + method + " failed (" + executorch::runtime::to_string(outputs.error()) + ").",
         "a kernel refused its inputs: a dtype, a shape or an index that it does not support.",
         "see the log below for the operator; run PyTorch's eager model on the same inputs to compare.");
  }
  return std::move(*outputs);
}

std::vector<Value> Program::Run(const std::string& method, const std::vector<Value>& inputs, double* seconds) {
  const Signature signature = GetSignature(method);
  std::vector<Argument> arguments(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = signature.inputs[i];
    std::string mismatch = Mismatch(inputs[i], port);
    if (mismatch.empty()) {
      mismatch = SetInput(method, port, ToEValue(inputs[i], port, &arguments[i]), i);
    }
    if (!mismatch.empty()) {
      Fail("input " + std::to_string(i) + " (" + Describe(inputs[i]) + ") " + mismatch + "; method " + method +
               " takes " + Describe(port) + (port.is_tensor() ? " at most." : "."),
           "the input is for another program, or the model was exported with fixed shapes.",
           "give what --list_methods shows; export with get_dynamic_shapes() for other shapes.");
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const std::vector<EValue> outputs = Execute(method);
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<Value> values;
  for (const EValue& output : outputs) {
    values.push_back(FromEValue(output));
  }
  size_t bytes = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    bytes += Bytes(inputs[i]) + arguments[i].data.bytes.size();
  }
  for (const Value& value : values) {
    bytes += Bytes(value);
  }
  most_values_ = std::max(most_values_, bytes);
  return values;
}

ProgramMemory Program::Memory() const {
  return {files_.program.size(),
          files_.weights ? files_.weights->size() : 0,
          files_.program.is_mapped(),
          most_planned_,
          runtime_memory_->most(),
          scratch_memory_->most(),
          most_values_};
}

}  // namespace rules_executorch
