#include "runtime/python/library.h"

#include <executorch/extension/tensor/tensor_ptr.h>

#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernel_api/threads.h"
#include "runtime/python/call.h"
#include "runtime/runner/failure.h"
#include "runtime/runner/program.h"

namespace rules_executorch {
namespace {

using executorch::extension::TensorPtr;
using executorch::runtime::EValue;
using executorch::runtime::Tag;

// Gives each thread of Python the pool, or keeps the thread from using the pool: ExecuTorch disables the pool by
// thread.
class Threads {
 public:
  static bool Use(uint32_t count) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool is_set = has_thread_pool() ? use_threads(count) : count <= 1;
    single_ = is_set && thread_count() == 1;
    is_chosen_ = is_chosen_ || is_set;
    return is_set;
  }

  static void Prepare() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (is_chosen_ && single_ && has_thread_pool()) {
        use_threads(1);
      }
      if (is_chosen_) {
        return;
      }
    }
    Use(kAllProcessors);
  }

 private:
  static std::mutex mutex_;
  static bool is_chosen_;
  static bool single_;
};

std::mutex Threads::mutex_;
bool Threads::is_chosen_ = false;
bool Threads::single_ = false;

double AsDouble(int64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

int64_t AsBits(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// A method that is loaded.
class LoadedMethod {
 public:
  LoadedMethod(const std::string& path, const std::vector<std::string>& weights, std::string name)
      : program_(path, weights, Load::kMap, nullptr), name_(std::move(name)), signature_(program_.GetSignature(name_)) {
    program_.LoadMethod(name_);
  }

  void Run(const int64_t* inputs, int64_t* outputs) {
    std::vector<TensorPtr> tensors;  // stay until the run has ended
    for (size_t i = 0; i < signature_.inputs.size(); ++i) {
      const EValue value = Take(signature_.inputs[i], &inputs, &tensors);
      const std::string mismatch = program_.SetInput(signature_.inputs[i], value, i);
      if (!mismatch.empty()) {
        Fail("input " + std::to_string(i) + " of method " + name_ + " " + mismatch + ".",
             "the input has a size that the program fixed at its export, or a value that the export compiled in.",
             "give what the export had; export with get_dynamic_shapes() for other shapes.");
      }
    }
    for (const EValue& output : program_.Execute(name_)) {
      Give(output, &outputs);
    }
  }

 private:
  static EValue Take(const Port& port, const int64_t** inputs, std::vector<TensorPtr>* tensors) {
    const int64_t number = *(*inputs)++;
    switch (port.tag) {
      case Tag::Tensor: {
        Layout layout = port.layout;
        for (int32_t& size : layout.sizes) {
          size = static_cast<int32_t>(*(*inputs)++);
        }
        tensors->push_back(executorch::extension::make_tensor_ptr(layout.sizes, reinterpret_cast<void*>(number),
                                                                  layout.dim_order, layout.strides(), layout.dtype));
        return EValue(*tensors->back());
      }
      case Tag::Int:
        return EValue(number);
      case Tag::Double:
        return EValue(AsDouble(number));
      case Tag::Bool:
        return EValue(number != 0);
      default:
        return EValue();
    }
  }

  static void Give(const EValue& output, int64_t** outputs) {
    int64_t*& next = *outputs;
    if (output.isTensor()) {
      const executorch::aten::Tensor& tensor = output.toTensor();
      *next++ = reinterpret_cast<int64_t>(tensor.const_data_ptr());
      for (const auto size : tensor.sizes()) {
        *next++ = size;
      }
    } else {
      *next++ = output.isInt()      ? output.toInt()
                : output.isDouble() ? AsBits(output.toDouble())
                : output.isBool()   ? static_cast<int64_t>(output.toBool())
                                    : 0;
    }
  }

  Program program_;
  std::string name_;
  Signature signature_;
};

// A program with a state of its own. Each method has memory of its own, since one instance of `Program` has the memory
// of one method; all map the same files.
class Instance {
 public:
  Instance(std::string path, std::vector<std::string> weights) : path_(std::move(path)), weights_(std::move(weights)) {}

  void Run(const char* method, const int64_t* inputs, int64_t* outputs) {
    auto found = methods_.find(method);
    if (found == methods_.end()) {
      found = methods_.emplace(method, std::make_unique<LoadedMethod>(path_, weights_, method)).first;
    }
    found->second->Run(inputs, outputs);
  }

 private:
  std::string path_;
  std::vector<std::string> weights_;
  std::map<std::string, std::unique_ptr<LoadedMethod>, std::less<>> methods_;
};

}  // namespace
}  // namespace rules_executorch

namespace re = rules_executorch;

int rules_executorch_use_threads(uint32_t count) { return re::Threads::Use(count); }

void* rules_executorch_open(const char* path, const char* const* weights, size_t count) {
  void* program = nullptr;
  re::Call([&] { program = new re::Instance(path, {weights, weights + count}); });
  return program;
}

void rules_executorch_close(void* program) { delete static_cast<re::Instance*>(program); }

int rules_executorch_run(void* program, const char* method, const int64_t* inputs, int64_t* outputs) {
  return re::Call([&] {
    re::Threads::Prepare();
    static_cast<re::Instance*>(program)->Run(method, inputs, outputs);
  });
}

const char* rules_executorch_failure() { return re::FailureText(); }
