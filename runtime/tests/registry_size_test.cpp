// Tests that the capacity of the wheel's registry is the default of executorch_runtime_toolchain: one more kernel
// aborts.

#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr size_t kMaxKernels = DEFAULT_MAX_KERNELS;

// Whether a process can register `count` kernels.
bool CanHold(size_t count) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<std::string> names;
    for (size_t i = executorch::runtime::get_registered_kernels().size(); i < count; ++i) {
      names.push_back("my_ops::f.o" + std::to_string(i));
    }
    std::vector<executorch::runtime::Kernel> kernels;
    for (const std::string& name : names) {
      kernels.emplace_back(name.c_str(), executorch::runtime::OpFunction(nullptr));
    }
    (void)executorch::runtime::register_kernels({kernels.data(), kernels.size()});
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

int main() {
  executorch::runtime::runtime_init();
  if (!CanHold(kMaxKernels) || CanHold(kMaxKernels + 1)) {
    std::fprintf(stderr, "the registry does not hold exactly %zu kernels\n", kMaxKernels);
    return 1;
  }
  return 0;
}
