#include <stdint.h>
#include <stdio.h>

#include "examples/compiled/classifier_compiled_c.h"

static _Alignas(64) uint8_t memory[classifier_compiled_Forward_memory_bytes];
static _Alignas(64) uint8_t scratch[1 << 16];

int main(void) {
  classifier_compiled_Forward classifier;
  classifier_compiled_Forward_init(&classifier, memory, scratch, sizeof(scratch));
  for (int i = 0; i < 28 * 28; ++i) {
    classifier_compiled_Forward_input0(&classifier)[i] = 1;
  }
  const compiled_program_status status = classifier_compiled_Forward_run(&classifier);
  if (status.error != 0) {
    printf("error %u in %s\n", (unsigned)status.error, classifier_compiled_Forward_operator_name(status.instruction));
    return 1;
  }
  for (int i = 0; i < 10; ++i) {
    printf("%g\n", classifier_compiled_Forward_output0(&classifier)[i]);
  }
  return 0;
}
