// Runs a program whose constants are in other files by ExecuTorch's C++ Module API.
//
// main PROGRAM WEIGHTS...

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: main PROGRAM WEIGHTS...\n");
    return 2;
  }
  const std::string program = argv[1];
  const std::vector<std::string> weights(argv + 2, argv + argc);
  executorch::extension::Module module(program, weights, executorch::extension::Module::LoadMode::Mmap);

  std::vector<int64_t> tokens;
  for (int64_t token = 0; token < 96; token += 6) {
    tokens.push_back(token);
  }
  const auto outputs = module.forward(executorch::extension::make_tensor_ptr({2, 8}, tokens));
  if (!outputs.ok()) {
    std::fprintf(stderr, "forward() failed: error 0x%x\n", static_cast<unsigned>(outputs.error()));
    return 1;
  }
  const auto& scores = outputs->at(0).toTensor();
  std::printf("scores: %.6f %.6f\n", scores.const_data_ptr<float>()[0], scores.const_data_ptr<float>()[1]);
  return 0;
}
