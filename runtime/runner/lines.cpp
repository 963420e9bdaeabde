#include "runtime/runner/lines.h"

#include <sys/mman.h>

namespace rules_executorch {

void RequestHugePages([[maybe_unused]] void* memory, [[maybe_unused]] size_t size) {
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (address + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t last = (address + size) / kHugePage * kHugePage;
  if (memory != nullptr && first < last) {
    // An error means that the kernel has no huge pages. The memory then has small pages.
    static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE));
  }
#endif
}

}  // namespace rules_executorch
