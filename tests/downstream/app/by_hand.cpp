#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: by_hand PROGRAM\n");
    return 2;
  }
  executorch::extension::Module module(argv[1]);
  auto outputs = module.forward(executorch::extension::make_tensor_ptr({3}, std::vector<float>{10, 20, 30}));
  if (!outputs.ok()) {
    std::fprintf(stderr, "forward failed: 0x%x\n", static_cast<unsigned>(outputs.error()));
    return 1;
  }
  const float* values = outputs->at(0).toTensor().const_data_ptr<float>();
  std::printf("%g %g %g\n", values[0], values[1], values[2]);
  return 0;
}
