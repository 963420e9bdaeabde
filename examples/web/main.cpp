#include "examples/web/digits_compiled.h"

static digits_compiled::Forward& digits() {
  static digits_compiled::Forward::Memory memory;
  static digits_compiled::Forward program(memory, /*scratch=*/nullptr, /*scratch_bytes=*/0);
  return program;
}

// 28 x 28 pixels from 0 (paper) to 1, which the page writes before each call of run().
[[clang::export_name("pixels")]] float* pixels() { return digits().input0(); }

// 0, or the number of an error.
[[clang::export_name("run")]] unsigned run() { return digits().run().error; }

// The probability of each digit.
[[clang::export_name("probabilities")]] const float* probabilities() { return digits().output0(); }
