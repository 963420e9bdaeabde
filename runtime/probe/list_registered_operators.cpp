// Prints the names of the operators that are registered when the program starts, sorted, one in each line. Linked with
// the runtime only, it lists the runtime's own operators.

#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

int main() {
  executorch::runtime::runtime_init();
  std::vector<std::string_view> names;
  for (const executorch::runtime::Kernel& kernel : executorch::runtime::get_registered_kernels()) {
    names.emplace_back(kernel.name_);
  }
  std::sort(names.begin(), names.end());
  // Removes duplicates of operators with several kernels for different dtypes.
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (std::string_view name : names) {
    std::printf("%.*s\n", static_cast<int>(name.size()), name.data());
  }
  return 0;
}
