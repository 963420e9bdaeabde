// Runs programs one after the other: run PROGRAM...
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    executorch::extension::Module module(argv[i]);
    auto outputs = module.forward(executorch::extension::make_tensor_ptr({5, 2}, std::vector<float>(10, 0.5f)));
    if (!outputs.ok()) {
      std::fprintf(stderr, "%s: forward failed: 0x%x\n", argv[i], static_cast<unsigned>(outputs.error()));
      return 1;
    }
    std::printf("%g\n", outputs->at(0).toTensor().const_data_ptr<float>()[0]);
  }
  return 0;
}
