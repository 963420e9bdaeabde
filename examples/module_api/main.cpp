// Runs a program by ExecuTorch's C++ Module API, on all processors, or on threads of a number that the command line
// gives.
//
// main PROGRAM [THREADS]

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "runtime/kernel_api/threads.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: main PROGRAM [THREADS]\n");
    return 2;
  }
  // Before the program is loaded: XNNPACK keeps the threads that it finds then.
  const auto threads = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : rules_executorch::kAllProcessors;
  if (!rules_executorch::use_threads(static_cast<uint32_t>(threads))) {
    std::fprintf(stderr, "the system starts no such number of threads\n");
    return 1;
  }

  executorch::extension::Module module(argv[1]);
  const auto input = executorch::extension::ones({64, 256});
  const auto outputs = module.forward(input);
  if (!outputs.ok()) {
    std::fprintf(stderr, "forward() failed: error 0x%x\n", static_cast<unsigned>(outputs.error()));
    return 1;
  }
  const auto& output = outputs->at(0).toTensor();
  std::printf("threads: %d\n", static_cast<int>(rules_executorch::thread_count()));
  std::printf("output: %zd x %zd, starts with %.6f %.6f\n", output.size(0), output.size(1),
              output.const_data_ptr<float>()[0], output.const_data_ptr<float>()[1]);
  return 0;
}
