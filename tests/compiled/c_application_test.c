// What an application in C sees of compiled programs. C99.

#include <stdio.h>
#include <string.h>

#include "tests/compiled/lenet_by_pointer_c.h"
#include "tests/compiled/lenet_c.h"
#include "tests/compiled/shapes_c.h"
#include "tests/compiled/state_c.h"

static const uint32_t kInvalidArgument = 0x12, kMemoryAllocationFailed = 0x21;

static int failures = 0;

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      printf("%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

// C99 has no name for an alignment.
static uint64_t storage[(1 << 20) / sizeof(uint64_t)];

// The next `bytes` of the storage, at a multiple of 64.
static void* place(size_t bytes) {
  static size_t used = 0;
  uint8_t* const begin = (uint8_t*)storage;
  const size_t start = (size_t)(((uintptr_t)(begin + used) + 63) / 64 * 64 - (uintptr_t)begin);
  used = start + bytes;
  EXPECT(used <= sizeof(storage));
  return begin + start;
}

static void test_lenet(void* scratch, size_t scratch_bytes) {
  static lenet_Forward method, with_little;
  void* const memory = place(lenet_Forward_memory_bytes);
  lenet_Forward_init(&method, memory, scratch, scratch_bytes);
  EXPECT(lenet_Forward_input0_bytes == 28 * 28 * sizeof(float));
  EXPECT(lenet_Forward_output0_bytes == 10 * sizeof(float));
  EXPECT(!lenet_Forward_has_state);
  memset(lenet_Forward_input0(&method), 0, lenet_Forward_input0_bytes);
  EXPECT(lenet_Forward_run(&method).error == 0);
  const float of_zeros = lenet_Forward_output0(&method)[0];
  for (int i = 0; i < 28 * 28; ++i) {
    lenet_Forward_input0(&method)[i] = (float)(i % 7);
  }
  EXPECT(lenet_Forward_run(&method).error == 0);
  EXPECT(lenet_Forward_output0(&method)[0] != of_zeros);
  EXPECT(lenet_Forward_scratch_used(&method) > 0);

  lenet_Forward_init(&with_little, memory, scratch, 16);
  const compiled_program_status status = lenet_Forward_run(&with_little);
  EXPECT(status.error == kMemoryAllocationFailed);
  EXPECT(strstr(lenet_Forward_operator_name(status.instruction), "::") != NULL);
  EXPECT(strstr(lenet_Forward_source_line(0), "conv.py:") != NULL);
  EXPECT(strcmp(lenet_Forward_operator_name(-1), "") == 0);
}

static void test_constants_by_pointer(void* scratch, size_t scratch_bytes, const char* path) {
  static lenet_Forward method;
  static lenet_by_pointer_Forward other;
  FILE* const file = fopen(path, "rb");
  EXPECT(file != NULL);
  uint8_t* const constants = place(1 << 18);
  EXPECT(file != NULL && fread(constants, 1, 1 << 18, file) > 200000);
  lenet_Forward_init(&method, place(lenet_Forward_memory_bytes), scratch, scratch_bytes);
  lenet_by_pointer_Forward_init(&other, place(lenet_by_pointer_Forward_memory_bytes), scratch, scratch_bytes,
                                constants);
  for (int i = 0; i < 28 * 28; ++i) {
    lenet_Forward_input0(&method)[i] = lenet_by_pointer_Forward_input0(&other)[i] = (float)(i % 5);
  }
  EXPECT(lenet_Forward_run(&method).error == 0);
  EXPECT(lenet_by_pointer_Forward_run(&other).error == 0);
  EXPECT(memcmp(lenet_Forward_output0(&method), lenet_by_pointer_Forward_output0(&other),
                lenet_Forward_output0_bytes) == 0);
  fclose(file);
}

static void test_shapes(void* scratch, size_t scratch_bytes) {
  static shapes_Forward method;
  shapes_Forward_init(&method, place(shapes_Forward_memory_bytes), scratch, scratch_bytes);
  // The bound of the export is 33.
  EXPECT(shapes_Forward_resize_input0(&method, (const int32_t[]){2, 34, 8}).error == kInvalidArgument);
  EXPECT(shapes_Forward_resize_input0(&method, (const int32_t[]){2, 3, 8}).error == 0);
  EXPECT(shapes_Forward_input0_sizes(&method)[1] == 3);
  memset(shapes_Forward_input0(&method), 0, 2 * 3 * 8 * sizeof(float));
  EXPECT(shapes_Forward_run(&method).error == 0);
  // A reshape to [-1, 2 * length, 3], the even numbers, and the length.
  EXPECT(shapes_Forward_output0_sizes(&method)[1] == 6);
  EXPECT(shapes_Forward_output1_sizes(&method)[0] == 3);
  EXPECT(shapes_Forward_output1(&method)[2] == 4);
  EXPECT(shapes_Forward_output2(&method) == 3);
}

static int64_t calls_after_run(state_Forward* method) {
  memset(state_Forward_input0(method), 0, state_Forward_input0_bytes);
  EXPECT(state_Forward_run(method).error == 0);
  return state_Forward_output1(method)[0];
}

static void test_state(void* scratch, size_t scratch_bytes) {
  static state_Forward method;
  state_Forward_init(&method, place(state_Forward_memory_bytes), scratch, scratch_bytes);
  EXPECT(state_Forward_has_state);
  EXPECT(calls_after_run(&method) == 1);
  EXPECT(calls_after_run(&method) == 2);
  state_Forward_reset(&method);
  EXPECT(calls_after_run(&method) == 1);
  // 0.75 of the initial content, whose first element is -1.
  EXPECT(state_Forward_output0(&method)[0] == -0.75f);
}

int main(int argc, char** argv) {
  const size_t scratch_bytes = 1 << 17;
  void* const scratch = place(scratch_bytes);
  EXPECT(argc == 2);
  test_lenet(scratch, scratch_bytes);
  test_constants_by_pointer(scratch, scratch_bytes, argv[1]);
  test_shapes(scratch, scratch_bytes);
  test_state(scratch, scratch_bytes);
  return failures == 0 ? 0 : 1;
}
