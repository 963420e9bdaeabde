// Adds two tensors of ones with a program of torch.add, by the runtime's Program and Method.
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/executor/program.h>

#include <cstdint>
#include <cstdio>
#include <vector>

using executorch::extension::FileDataLoader;
using executorch::extension::MallocMemoryAllocator;
using executorch::runtime::Error;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::MemoryManager;
using executorch::runtime::Program;
using executorch::runtime::Span;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto loader = FileDataLoader::from(argv[1]);
  auto program = Program::load(&loader.get());
  const auto meta = program->method_meta("forward");
  std::vector<std::vector<uint8_t>> buffers;
  std::vector<Span<uint8_t>> spans;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    auto& buffer = buffers.emplace_back(meta->memory_planned_buffer_size(i).get());
    spans.emplace_back(buffer.data(), buffer.size());
  }
  HierarchicalAllocator planned({spans.data(), spans.size()});
  MallocMemoryAllocator rest;
  MemoryManager memory(&rest, &planned);
  auto method = program->load_method("forward", &memory);
  if (!method.ok()) return 1;
  const auto ones = executorch::extension::ones({2, 3});
  if (method->set_input(ones, 0) != Error::Ok || method->set_input(ones, 1) != Error::Ok) return 1;
  if (method->execute() != Error::Ok) return 1;
  const auto output = method->get_output(0).toTensor();
  for (ssize_t i = 0; i < output.numel(); ++i) std::printf("%g ", output.const_data_ptr<float>()[i]);
  std::printf("\n");
  return 0;
}
