// An application of a program whose methods share a buffer, for a test in Python.

#include <string.h>

#include "tests/compiled/shared_state_c.h"

static uint64_t storage[1 << 10];
static shared_state_Prefill prefill_method;
static shared_state_Decode decode_method;
static shared_state_Read read_method;

void init(void) {
  uint8_t* const state = (uint8_t*)(((uintptr_t)storage + 63) / 64 * 64);
  uint8_t* const memory = state + shared_state_shared_state_bytes;
  uint8_t* const decode_memory = memory + shared_state_Prefill_memory_bytes;
  uint8_t* const read_memory = decode_memory + shared_state_Decode_memory_bytes;
  uint8_t* const scratch = read_memory + shared_state_Read_memory_bytes;
  const size_t scratch_bytes = (size_t)((uint8_t*)(storage + (1 << 10)) - scratch);
  shared_state_Prefill_init(&prefill_method, memory, state, scratch, scratch_bytes);
  shared_state_Decode_init(&decode_method, decode_memory, state, scratch, scratch_bytes);
  shared_state_Read_init(&read_method, read_memory, state, scratch, scratch_bytes);
}

void reset(void) { shared_state_Read_reset(&read_method); }

uint32_t prefill(const float* x) {
  memcpy(shared_state_Prefill_input0(&prefill_method), x, shared_state_Prefill_input0_bytes);
  return shared_state_Prefill_run(&prefill_method).error;
}

uint32_t decode(const float* x, int64_t position, float* output, int64_t* calls) {
  memcpy(shared_state_Decode_input0(&decode_method), x, shared_state_Decode_input0_bytes);
  shared_state_Decode_input1(&decode_method)[0] = position;
  const uint32_t error = shared_state_Decode_run(&decode_method).error;
  memcpy(output, shared_state_Decode_output0(&decode_method), shared_state_Decode_output0_bytes);
  *calls = shared_state_Decode_output1(&decode_method)[0];
  return error;
}

uint32_t sum(float* output) {
  shared_state_Read_input0(&read_method)[0] = 0;
  const uint32_t error = shared_state_Read_run(&read_method).error;
  *output = shared_state_Read_output0(&read_method)[0];
  return error;
}
