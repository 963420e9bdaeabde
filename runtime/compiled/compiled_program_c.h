#pragma once

#include <stdint.h>

// The result of a call of a compiled program. compiled_program.h has the same for C++, and describes the members.
typedef struct compiled_program_status {
  uint32_t error;
  int32_t instruction;
} compiled_program_status;
