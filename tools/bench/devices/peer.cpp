// Runs the C of another code generator once, on the inputs of program.cpp.

#include <cstdint>

#include "tools/bench/devices/counter.h"

extern "C" void model(const float* input, float* output);

namespace {

float input[INPUTS], output[OUTPUTS];

}  // namespace

int main() {
  for (uint32_t i = 0; i < INPUTS; ++i) {
    input[i] = static_cast<float>(i % 13) / 13;
  }
  start_counter();
  model(input, output);
  const uint32_t ticks = counted_ticks();
  report(ticks, sizeof(input) + sizeof(output), output, OUTPUTS);
  return 0;
}
