// Runs a compiled program once. PROGRAM_HEADER and PROGRAM name the program.

#include <cstdint>

#include PROGRAM_HEADER
#include "examples/microcontroller/board.h"
#include "tools/bench/devices/counter.h"

namespace {

PROGRAM::Memory memory;
#if SCRATCH_BYTES > 0
alignas(64) uint8_t scratch[SCRATCH_BYTES];
constexpr uint32_t kScratchBytes = sizeof(scratch);
#else
constexpr uint8_t* scratch = nullptr;
constexpr uint32_t kScratchBytes = 0;
#endif

}  // namespace

// In place of a function that ends a program of an operating system.
namespace executorch::runtime {

[[noreturn]] void runtime_abort() { end(false); }

}  // namespace executorch::runtime

int main() {
  PROGRAM program(memory, scratch, kScratchBytes);
  for (uint32_t i = 0; i < PROGRAM::kInput0Bytes / sizeof(float); ++i) {
    program.input0()[i] = static_cast<float>(i % 13) / 13;
  }
  start_counter();
  const bool succeeded = program.run().ok();
  const uint32_t ticks = counted_ticks();
  report(ticks, sizeof(memory) + program.scratch_used(), program.output0(), PROGRAM::kOutput0Bytes / sizeof(float));
  return succeeded ? 0 : 1;
}
