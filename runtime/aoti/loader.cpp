#include "runtime/aoti/loader.h"

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/Exception.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <chrono>
#include <exception>
#include <stdexcept>

namespace rules_executorch {
namespace {

using torch::inductor::AOTIModelPackageLoader;

// Calls a function. Keeps only the message of PyTorch's errors, without the stack.
template <typename Function>
auto WithPlainErrors(Function function) {
  try {
    return function();
  } catch (const c10::Error& error) {
    throw std::runtime_error(error.what_without_backtrace());
  }
}

std::optional<Array> ToArray(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return std::nullopt;
  }
  const at::Tensor dense = tensor.contiguous();
  const auto* bytes = static_cast<const uint8_t*>(dense.const_data_ptr());
  return Array{static_cast<int>(dense.scalar_type()), dense.sizes().vec(), dense.strides().vec(),
               std::vector<uint8_t>(bytes, bytes + dense.nbytes())};
}

}  // namespace

struct AotiLoader::State {
  AOTIModelPackageLoader loader;
};

AotiLoader::AotiLoader(const std::string& path) {
  state_ = WithPlainErrors([&] { return std::unique_ptr<State>(new State{AOTIModelPackageLoader(path)}); });
}

AotiLoader::~AotiLoader() = default;

std::string AotiLoader::Metadata(const std::string& path, const std::string& key) {
  const auto metadata =
      WithPlainErrors([&] { return AOTIModelPackageLoader::load_metadata_from_package(path, "model"); });
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

void AotiLoader::UseThreads(int count) { at::set_num_threads(count); }

bool AotiLoader::HasOperator(const std::string& name) {
  const size_t dot = name.find('.');
  const auto found = c10::Dispatcher::singleton().findSchema(
      {name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)});
  return found.has_value() && found->hasComputedKernelForDispatchKey(c10::DispatchKey::CPU);
}

std::vector<std::optional<Array>> AotiLoader::Run(std::vector<Array>& inputs, double* seconds) {
  return WithPlainErrors([&] {
    std::vector<at::Tensor> tensors;
    for (Array& input : inputs) {
      const auto options = at::TensorOptions().dtype(static_cast<c10::ScalarType>(input.dtype));
      tensors.push_back(at::from_blob(input.bytes.data(), input.sizes, input.strides, options));
    }
    const auto start = std::chrono::steady_clock::now();
    const std::vector<at::Tensor> outputs = state_->loader.run(tensors);
    *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::vector<std::optional<Array>> arrays;
    for (const at::Tensor& output : outputs) {
      arrays.push_back(ToArray(output));
    }
    return arrays;
  });
}

}  // namespace rules_executorch
