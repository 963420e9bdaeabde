#include "kernels/common/parallel_for.h"

#include "kernels/common/threads.h"

namespace rules_executorch::kernels {

void parallel_for(int64_t begin, int64_t end, int64_t grain, RangeFunction function) {
  if (begin >= end) {
    return;
  }
  if (end - begin <= grain || run_on_threads == nullptr) {
    function(begin, end);
  } else {
    run_on_threads(begin, end, grain, function);
  }
}

bool has_threads() { return run_on_threads != nullptr; }

}  // namespace rules_executorch::kernels
