#include "runtime/fuzz/readers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/fuzz/refusal.h"
#include "runtime/fuzz/touching.h"
#include "runtime/runner/failure.h"
#include "runtime/runner/input_spec.h"
#include "runtime/runner/program.h"
#include "runtime/runner/samples.h"

namespace rules_executorch {
namespace {

using executorch::aten::ScalarType;
using executorch::runtime::Tag;

constexpr char kMethod[] = "forward";
// More than the fuzzed samples have, so that all of them are read.
constexpr size_t kMostValues = 16;
constexpr size_t kShownElements = 4;
// Methods with larger inputs or outputs are not run.
constexpr size_t kLargestTensor = size_t{1} << 20;

// A file without a place on a disk. The runner's readers take paths.
class MemoryFile {
 public:
  explicit MemoryFile(const Bytes& bytes) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      std::abort();
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

bool BeginsAs(const Bytes& bytes, const char* identifier) {
  return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, identifier, 4) == 0;
}

// Registers kernels for the operators that the runtime has logged as missing. Returns whether there are any.
bool RegisterMissingOperators() {
  bool found = false;
  for (const std::string& message : LogMessages()) {
    const size_t at = message.find("Missing operator: [");
    const size_t end = at == std::string::npos ? at : message.find("] ", at);
    if (end != std::string::npos) {
      RegisterTouchingKernel(message.substr(end + 2));
      found = true;
    }
  }
  return found;
}

// Loads a method. If operators are missing, loads the method again with kernels for them.
void LoadMethod(Program* program, const std::string& method) {
  ForgetMessages();
  try {
    program->LoadMethod(method);
  } catch (const Refusal&) {
    if (!RegisterMissingOperators()) {
      throw;
    }
    program->LoadMethod(method);
  }
}

// An input that a method takes. Instead of numbers, the runtime only takes those with which model.py is exported.
const char* SpecFor(Tag tag) {
  switch (tag) {
    case Tag::None:
      return "none";
    case Tag::Double:
      return "0.5";
    case Tag::Int:
      return "3";
    default:
      return "ones";
  }
}

void RunMethod(Program* program, const std::string& method, const Signature& signature) {
  std::vector<Value> inputs;
  for (const std::vector<Port>& ports : {signature.inputs, signature.outputs}) {
    for (const Port& port : ports) {
      if (port.is_tensor() && port.layout.nbytes() > kLargestTensor) {
        return;
      }
    }
  }
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    inputs.push_back(ParseInput(SpecFor(signature.inputs[i].tag), i, signature.inputs[i]));
  }
  double seconds = 0;
  for (const Value& output : program->Run(method, inputs, &seconds)) {
    Describe(output);
  }
}

void ReadProgram(const std::string& path) {
  Program program(path, /*weights_paths=*/{}, Load::kRead, LimitInstructions());
  for (const std::string& method : program.MethodNames()) {
    const Signature signature = program.GetSignature(method);
    for (const std::vector<Port>& ports : {signature.inputs, signature.outputs}) {
      for (const Port& port : ports) {
        Describe(port);
      }
    }
    LoadMethod(&program, method);
    RunMethod(&program, method, signature);
  }
}

void ReadSampleFile(const std::string& path) {
  for (const Sample& sample : ReadSamples(path, kMethod, kMostValues, kMostValues)) {
    for (const std::vector<Value>& values : {sample.inputs, sample.outputs}) {
      for (const Value& value : values) {
        Describe(value);
        if (value) {
          ElementsText(WithDimOrder(*value, ContiguousLayout(value->layout.dtype, value->layout.sizes).dim_order),
                       kShownElements);
        }
      }
    }
  }
}

std::vector<Port> SpecPorts() {
  std::vector<Port> ports;
  for (Tag tag : {Tag::None, Tag::Bool, Tag::Int, Tag::Double}) {
    ports.push_back({tag, {}});
  }
  for (ScalarType dtype : {ScalarType::Float, ScalarType::Double, ScalarType::Half, ScalarType::BFloat16,
                           ScalarType::Bool, ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int,
                           ScalarType::Long, ScalarType::UInt16, ScalarType::UInt32, ScalarType::UInt64}) {
    ports.push_back({Tag::Tensor, ContiguousLayout(dtype, {2, 2})});
  }
  ports.push_back({Tag::Tensor, ContiguousLayout(ScalarType::Float, {})});
  ports.push_back({Tag::Tensor, {ScalarType::Int, {1, 3, 2, 2}, {0, 2, 3, 1}}});
  return ports;
}

// Parses the text for inputs of all kinds. Returns the error for the last kind.
std::string ReadSpec(const std::string& spec) {
  static const auto* const ports = new std::vector<Port>(SpecPorts());
  std::string found;
  for (const Port& port : *ports) {
    try {
      const Value value = ParseInput(spec, 0, port);
      if (!Mismatch(value, port).empty()) {
        std::abort();  // The parser gave a value that the program would not take.
      }
      found.clear();
    } catch (const Refusal& refusal) {
      found = refusal.found;
    }
  }
  return found;
}

}  // namespace

std::string ReadAnyFile(const Bytes& file) {
  [[maybe_unused]] static const bool prepared = (PrepareToFail(), true);
  ForgetMessages();
  const bool is_program = BeginsAs(file, "ET12");
  if (!is_program && !BeginsAs(file, "FT01")) {
    return ReadSpec(std::string(file.begin(), file.end()));
  }
  const MemoryFile memory(file);
  try {
    is_program ? ReadProgram(memory.path()) : ReadSampleFile(memory.path());
  } catch (const Refusal& refusal) {
    return refusal.found;
  }
  return "";
}

}  // namespace rules_executorch
