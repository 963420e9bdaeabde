// Times a program in ExecuTorch's runtime: the lowest level of its API, a mapped file, memory that the linker places.
//
// runtime RUNS PROGRAM

#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tools/bench/compiled/times.h"

namespace {

using executorch::aten::ScalarType;
using executorch::extension::MmapDataLoader;
using executorch::extension::TensorPtr;
using executorch::runtime::Error;
using executorch::runtime::Program;
using executorch::runtime::Span;

constexpr size_t kAlignment = 64;
alignas(kAlignment) uint8_t planned[1 << 20];

int failed(const char* step) {
  std::fprintf(stderr, "%s failed\n", step);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: runtime RUNS PROGRAM\n");
    return 2;
  }
  executorch::runtime::runtime_init();
  auto loader = MmapDataLoader::from(argv[2], MmapDataLoader::MlockConfig::NoMlock);
  if (!loader.ok()) {
    return failed("mapping the file");
  }
  const auto program = Program::load(&loader.get());
  if (!program.ok()) {
    return failed("Program::load");
  }
  const auto meta = program->method_meta("forward");
  if (!meta.ok()) {
    return failed("method_meta");
  }
  std::vector<Span<uint8_t>> buffers;
  size_t used = 0;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    const auto bytes = static_cast<size_t>(meta->memory_planned_buffer_size(i).get());
    buffers.emplace_back(planned + used, bytes);
    used += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (used > sizeof(planned)) {
    return failed("placing the planned memory");
  }
  executorch::runtime::HierarchicalAllocator planned_memory({buffers.data(), buffers.size()});
  executorch::extension::MallocMemoryAllocator of_method, temporary;
  executorch::runtime::MemoryManager memory(&of_method, &planned_memory, &temporary);
  auto method = program->load_method("forward", &memory);
  if (!method.ok()) {
    return failed("load_method");
  }
  std::vector<TensorPtr> inputs;
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    const auto input = meta->input_tensor_meta(i);
    inputs.push_back(
        executorch::extension::empty({input->sizes().begin(), input->sizes().end()}, input->scalar_type()));
    if (input->scalar_type() == ScalarType::Long) {
      compiled_bench::fill(inputs.back()->mutable_data_ptr<int64_t>(), input->nbytes());
    } else {
      compiled_bench::fill(inputs.back()->mutable_data_ptr<float>(), input->nbytes());
    }
  }
  return compiled_bench::measure(argv[1], [&]() -> compiled_bench::Outputs {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (method->set_input(*inputs[i], i) != Error::Ok) {
        return {nullptr, 0};
      }
    }
    if (method->execute() != Error::Ok) {
      return {nullptr, 0};
    }
    const auto& output = method->get_output(0).toTensor();
    return {output.const_data_ptr<float>(), static_cast<size_t>(output.numel())};
  });
}
