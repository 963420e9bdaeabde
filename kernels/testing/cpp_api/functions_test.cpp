// Tests that all functions in generated headers are defined, and that functions refuse tensors with more dimensions
// than kernels support.

#include "kernels/testing/cpp_api/functions_test.h"

#include <executorch/runtime/platform/runtime.h>

#include <cstdio>

#include "runtime/testing/check.h"

int main() {
  executorch::runtime::runtime_init();
  functions_test::visit_all();
  const functions_test::Found& found = functions_test::found();
  std::printf("%d kernels, %d functions, %d calls\n", found.kernels, found.functions, found.calls);
  CHECK(found.kernels > 0 && found.functions > 0 && found.calls > found.functions);
  CHECK(found.wrong == 0);
  return 0;
}
