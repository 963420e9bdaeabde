// Times a compiled program. HEADER and PROGRAM name the program; INPUTS is the number of its inputs.
//
// compiled RUNS

#include <cstdint>
#include <cstdio>
#include <cstring>

#include HEADER
#include "tools/bench/compiled/times.h"

namespace {

PROGRAM::Memory memory;
alignas(64) uint8_t scratch[1 << 20];
// For the inputs of a run, as an application has them.
alignas(64) uint8_t input0[PROGRAM::kInput0Bytes];
#if INPUTS > 1
alignas(64) uint8_t input1[PROGRAM::kInput1Bytes];
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: compiled RUNS\n");
    return 2;
  }
  PROGRAM program(memory, scratch, sizeof(scratch));
  compiled_bench::fill(reinterpret_cast<decltype(program.input0())>(input0), sizeof(input0));
#if INPUTS > 1
  compiled_bench::fill(reinterpret_cast<decltype(program.input1())>(input1), sizeof(input1));
#endif
  return compiled_bench::measure(argv[1], [&]() -> compiled_bench::Outputs {
    std::memcpy(program.input0(), input0, sizeof(input0));
#if INPUTS > 1
    std::memcpy(program.input1(), input1, sizeof(input1));
#endif
    const bool succeeded = program.run().ok();
    return {program.output0(), succeeded ? PROGRAM::kOutput0Bytes / sizeof(float) : 0};
  });
}
