#include <cstdio>

#include "examples/compiled/classifier_compiled.h"

// The application places all memory. Nothing is allocated.
static classifier_compiled::Forward::Memory memory;
alignas(64) static unsigned char scratch[1 << 16];

int main() {
  classifier_compiled::Forward classifier(memory, scratch, sizeof(scratch));
  for (int i = 0; i < 28 * 28; ++i) {
    classifier.input0()[i] = 1;
  }
  const compiled_program::Status status = classifier.run();
  if (!status.ok()) {
    std::printf("error %u in %s\n", unsigned(status.error), classifier.operator_name(status.instruction));
    return 1;
  }
  for (int i = 0; i < 10; ++i) {
    std::printf("%g\n", classifier.output0()[i]);
  }
}
