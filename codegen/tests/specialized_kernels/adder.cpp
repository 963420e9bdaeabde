#include "codegen/tests/specialized_kernels/adder.h"

#include <executorch/extension/tensor/tensor.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

using executorch::extension::TensorPtr;
using executorch::runtime::EValue;

template <typename T>
auto value_or_exit(T result, const std::string& what) {
  if (result.ok()) return std::move(result.get());
  std::fprintf(stderr, "%s: error 0x%x\n", what.c_str(), static_cast<unsigned>(result.error()));
  std::exit(1);
}

}  // namespace

int mark_of(executorch::extension::Module& program, const std::string& method) {
  const auto meta = value_or_exit(program.method_meta(method), method);
  std::vector<std::vector<uint8_t>> memory;
  std::vector<TensorPtr> tensors;
  std::vector<EValue> inputs;
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    const auto input = value_or_exit(meta.input_tensor_meta(i), method);
    memory.emplace_back(input.nbytes());
    tensors.push_back(executorch::extension::make_tensor_ptr(
        {input.sizes().begin(), input.sizes().end()}, memory.back().data(),
        {input.dim_order().begin(), input.dim_order().end()}, {}, input.scalar_type()));
    inputs.emplace_back(tensors.back());
  }
  const std::vector<EValue> outputs = value_or_exit(program.execute(method, inputs), method);
  return *static_cast<const uint8_t*>(outputs.at(0).toTensor().const_data_ptr());
}
