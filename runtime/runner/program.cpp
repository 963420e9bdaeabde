#include "runtime/runner/program.h"

#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
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

using executorch::aten::ArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::extension::FlatTensorDataMap;
using executorch::extension::TensorPtr;
using executorch::extension::merged_data_map::MergedDataMap;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::EventTracer;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::Method;
using executorch::runtime::MethodMeta;
using executorch::runtime::NamedDataMap;
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

// The files of weights for a check, by the keys of their data. `weights` and `files` have the same order.
class Keys {
 public:
  Keys(const std::deque<LoadedFile>& weights, const std::deque<TensorFile>& files) : weights_(weights), files_(files) {
    for (size_t i = 0; i < files.size(); ++i) {
      for (std::string_view key : files[i].Keys()) {
        const auto [owner, is_new] = owners_.emplace(key, i);
        if (!is_new) {
          Fail(std::string(key) + " is in the weights " + weights[owner->second].path() + " and in the weights " +
                   weights[i].path() + ".",
               "a file has all constants of a program, and not only those that the other files do not have.",
               "give a base, and files that executorch_weights wrote over this base.");
        }
      }
    }
  }

  // Returns the number of the file with the key, or the number of files.
  size_t Find(std::string_view key) const {
    const auto owner = owners_.find(key);
    return owner == owners_.end() ? files_.size() : owner->second;
  }

  // Returns the likely cause for a file that does not have what a program needs.
  std::string Cause() const {
    for (size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].has_samples()) {
        return weights_[i].path() + " has samples, such as " + std::string(files_[i].Keys().front()) +
               ", and no weights.";
      }
    }
    return "the weights are those of another program, or of another export of the model.";
  }

 private:
  const std::deque<LoadedFile>& weights_;
  const std::deque<TensorFile>& files_;
  std::map<std::string_view, size_t> owners_;
};

// Checks that files of weights have all data that a program needs.
void CheckWeights(const std::string& program, const std::vector<ExternalData>& needed,
                  const std::vector<std::string>& paths, const std::deque<LoadedFile>& weights,
                  const std::deque<TensorFile>& files) {
  const Keys keys(weights, files);
  for (const ExternalData& one : needed) {
    const size_t number = keys.Find(one.key);
    const auto refuse = [&](const std::string& found) {
      Fail("the weights " + (number < files.size() ? weights[number].path() : Join(paths)) + " are not those of " +
               program + ": the program needs " + one.key + ", " + found + ".",
           keys.Cause(), "give the .weights.ptd file of the program's export with --weights=FILE.");
    };
    if (number == files.size()) {
      refuse(paths.size() == 1 ? "which is not in the file" : "which is in none of the files");
    }
    const TensorFile::Data data = *files[number].Find(one.key);
    if (one.layout && (!data.layout || !(*data.layout == *one.layout))) {
      refuse("as " + Describe(*one.layout) + ", which is " + (data.layout ? Describe(*data.layout) : "no tensor") +
             " in the file");
    } else if (one.layout && data.range.begin % executorch::runtime::elementSize(one.layout->dtype) != 0) {
      files[number].Refuse(one.key, "begins at a byte that no element of its dtype may begin at");
    } else if (data.range.size < one.size) {
      refuse("with " + std::to_string(one.size) + " bytes, and the file has " + std::to_string(data.range.size));
    }
  }
}

}  // namespace

LoadedFile::LoadedFile(const std::string& path, Load load, const std::string& kind) : path_(path) {
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

ProgramFiles::ProgramFiles(const std::string& path, const std::vector<std::string>& weights_paths, Load load)
    : program(path, load, "program") {
  const std::vector<ExternalData> needed = CheckProgram(program.data(), program.size(), path, Refuse);
  if (needed.empty()) {
    return;
  }
  if (weights_paths.empty()) {
    Fail(path + " needs constants of another file, such as " + needed.front().key + ".",
         "the program was exported with weights = \"external\".",
         "give the .weights.ptd file of its export with --weights=FILE.");
  }
  std::deque<TensorFile> files;
  for (const std::string& weights_path : weights_paths) {
    const LoadedFile& file = weights.emplace_back(weights_path, load, "weights");
    files.emplace_back(file.data(), file.size(), file.path(), RefuseWeights);
    if (files.back().Keys().empty()) {
      files.pop_back();
      weights.pop_back();
    }
  }
  CheckWeights(path, needed, weights_paths, weights, files);
}

Constants::Constants(const std::deque<LoadedFile>& files) {
  std::vector<const NamedDataMap*> maps;
  for (const LoadedFile& file : files) {
    Result<FlatTensorDataMap> map =
        FlatTensorDataMap::load(&loaders_.emplace_back(static_cast<const void*>(file.data()), file.size()));
    if (!map.ok()) {
      RefuseWeights(file.path(), executorch::runtime::to_string(map.error()));
    }
    maps.push_back(&maps_.emplace_back(std::move(*map)));
  }
  if (maps.empty()) {
    return;
  }
  Result<MergedDataMap> merged = MergedDataMap::load({maps.data(), maps.size()});
  if (!merged.ok()) {
    RefuseWeights(files.front().path(), executorch::runtime::to_string(merged.error()));
  }
  merged_.emplace(std::move(*merged));
}

Program::Program(const std::string& path, const std::vector<std::string>& weights_paths, Load load,
                 std::unique_ptr<EventTracer> tracer)
    : path_(path),
      files_(path, weights_paths, load),
      constants_(files_.weights),
      loader_(files_.program.data(), files_.program.size()),
      tracer_(std::move(tracer)) {
  Result<executorch::runtime::Program> program =
      executorch::runtime::Program::load(&loader_, executorch::runtime::Program::Verification::InternalConsistency);
  if (!program.ok()) {
    Refuse(path, executorch::runtime::to_string(program.error()));
  }
  program_.emplace(std::move(*program));
}

std::vector<std::string> Program::MethodNames() {
  std::vector<std::string> names;
  for (size_t i = 0; i < program_->num_methods(); ++i) {
    const Result<const char*> name = program_->get_method_name(i);
    if (name.ok()) {
      names.emplace_back(*name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Signature Program::GetSignature(const std::string& method) {
  const std::vector<std::string> names = MethodNames();
  if (std::find(names.begin(), names.end(), method) == names.end()) {
    Fail(path_ + " has no method " + method + "; it has: " + Join(names) + ".",
         "the name is misspelt, or the model was exported under other names.", "give one of these with --method=NAME.");
  }
  Signature signature;
  const Result<MethodMeta> meta = program_->method_meta(method.c_str());
  const InputSizes sizes = ReadInputSizes(method);
  for (size_t i = 0; meta.ok() && i < meta->num_inputs(); ++i) {
    signature.inputs.push_back(MakePort(meta->input_tag(i), [&] { return meta->input_tensor_meta(i); }));
    signature.inputs.back().allowed_sizes = sizes.Describe(i);
  }
  for (size_t i = 0; meta.ok() && i < meta->num_outputs(); ++i) {
    signature.outputs.push_back(MakePort(meta->output_tag(i), [&] { return meta->output_tensor_meta(i); }));
  }
  return signature;
}

InputSizes Program::ReadInputSizes(const std::string& method) const {
  const std::string key = InputSizesKey(method);
  const Result<const NamedDataMap*> map = program_->get_named_data_map();
  const uint32_t count = map.ok() ? (*map)->get_num_keys().get() : 0;
  // get_data() would log an error for a key that does not exist.
  for (uint32_t i = 0; i < count; ++i) {
    if (key != (*map)->get_key(i).get()) {
      continue;
    }
    const Result<FreeableBuffer> data = (*map)->get_data(key.c_str());
    const std::optional<InputSizes> sizes = data.ok() ? InputSizes::Read(data->data(), data->size()) : std::nullopt;
    if (!sizes) {
      Refuse(path_, "method " + method + ": the sizes of its inputs are damaged");
    }
    return *sizes;
  }
  return {};
}

void Program::TakePlannedMemory(const std::string& method) {
  const Result<MethodMeta> meta = program_->method_meta(method.c_str());
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
  const Result<MethodMeta> meta = program_->method_meta(method.c_str());
  for (size_t i = 0; meta.ok() && i < meta->num_backends(); ++i) {
    const auto name = meta->get_backend_name(i);
    if (name.ok() && executorch::runtime::get_backend_class(*name) == nullptr) {
      Fail(std::string("method ") + method + " needs the backend " + *name + ", which is not in this binary.",
           "the model was lowered to a delegate whose runtime is not linked.",
           "add the backend's library to the deps of the binary, or export without that partitioner.");
    }
  }
  method_.reset();
  TakePlannedMemory(method);
  memory_manager_.emplace(&runtime_memory_, &*planned_memory_, &scratch_memory_);
  Result<Method> loaded = program_->load_method(method.c_str(), &*memory_manager_, tracer_.get(), constants_.map());
  if (loaded.error() == Error::OperatorMissing) {
    const std::vector<std::string> missing = MissingOperators();
    Fail("method " + method + " needs operators that this binary does not have: " + Join(missing) + ".",
         "the binary was built for another program, or its operator library selects fewer operators.",
         "build it with an executorch_generated_lib that selects them, e.g. et_operator_library(models = [...]) with "
         "this program; --list_operators prints what is linked.");
  }
  if (!loaded.ok()) {
    Fail("cannot load method " + method + " (" + executorch::runtime::to_string(loaded.error()) + ").",
         "the program is damaged, or needs more memory than there is.", "see the log below; export the model again.");
  }
  method_.emplace(std::move(*loaded));
  input_sizes_ = ReadInputSizes(method);
}

std::string Program::SetInput(const Port& port, const EValue& value, size_t index) {
  const auto sizes = port.is_tensor() ? value.toTensor().sizes() : ArrayRef<SizesType>();
  std::string mismatch = input_sizes_.Check(index, sizes);
  if (!mismatch.empty()) {
    return mismatch;
  }
  if (method_->set_input(value, index) == Error::Ok) {
    return "";
  }
  return port.is_tensor() ? "has another shape, and the program allows one only"
                          : "is not the value that the program was exported with";
}

std::vector<EValue> Program::Execute(const std::string& method) {
  Error error = method_->execute();
  std::vector<EValue> outputs(method_->outputs_size());
  if (error == Error::Ok) {
    error = method_->get_outputs(outputs.data(), outputs.size());
  }
  if (error != Error::Ok) {
    Fail("method " + method + " failed (" + executorch::runtime::to_string(error) + ").",
         "a kernel refused its inputs: a dtype, a shape or an index that it does not support.",
         "see the log below for the operator; run PyTorch's eager model on the same inputs to compare.");
  }
  return outputs;
}

std::vector<Value> Program::Run(const std::string& method, const std::vector<Value>& inputs, double* seconds) {
  const Signature signature = GetSignature(method);
  std::vector<Argument> arguments(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = signature.inputs[i];
    std::string mismatch = Mismatch(inputs[i], port);
    if (mismatch.empty()) {
      mismatch = SetInput(port, ToEValue(inputs[i], port, &arguments[i]), i);
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
  size_t weights = 0;
  for (const LoadedFile& file : files_.weights) {
    weights += file.size();
  }
  return {files_.program.size(),  weights,     files_.program.is_mapped(), most_planned_, runtime_memory_.most(),
          scratch_memory_.most(), most_values_};
}

}  // namespace rules_executorch
