// Registers the kernels when the program starts.

#include <executorch/runtime/platform/assert.h>

#include "runtime/aten/tests/kernels_lib/RegisterKernels.h"

namespace {

[[maybe_unused]] const bool kRegistered = [] {
  ET_CHECK(torch::executor::register_kernels_lib_kernels() == executorch::runtime::Error::Ok);
  return true;
}();

}  // namespace
