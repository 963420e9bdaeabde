// Tests that the wheel's backends are registered in a binary that links their libraries, without libraries of vendors.

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdio>

int main(int argc, char** argv) {
  executorch::runtime::runtime_init();
  int missing = 0;
  for (int i = 1; i < argc; ++i) {
    if (executorch::runtime::get_backend_class(argv[i]) == nullptr) {
      std::fprintf(stderr, "%s is not registered\n", argv[i]);
      ++missing;
    }
  }
  const auto* xnnpack = executorch::runtime::get_backend_class("XnnpackBackend");
  if (xnnpack != nullptr && !xnnpack->is_available()) {
    std::fprintf(stderr, "XNNPACK cannot run on this machine\n");
    ++missing;
  }
  return missing == 0 && argc > 1 ? 0 : 1;
}
