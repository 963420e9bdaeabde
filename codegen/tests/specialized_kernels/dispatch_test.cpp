// Each method of a program that PyTorch exported reaches the kernel that functions.yaml declares for its dtype and dim
// order.

#include <cstdio>

#include "codegen/tests/specialized_kernels/adder.h"

int main(int, char** argv) {
  executorch::extension::Module program(argv[1]);
  const struct {
    const char* method;
    int mark;
  } expectations[] = {
      {"float_2d", 1}, {"half_2d", 2},          {"bfloat16_2d", 2},         {"int_2d", 3},    {"float_0d", 4},
      {"float_1d", 5}, {"float_contiguous", 6}, {"float_channels_last", 7}, {"double_2d", 8}, {"half_channels_last", 8},
  };
  int failures = 0;
  for (const auto& [method, expected] : expectations) {
    const int mark = mark_of(program, method);
    if (mark == expected) continue;
    std::fprintf(stderr, "%s called kernel %d, not %d\n", method, mark, expected);
    ++failures;
  }
  return failures;
}
