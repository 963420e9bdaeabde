#include "kernels/parallel/parallel_for.h"

namespace rules_executorch::kernels {

int64_t thread_count() { return rules_executorch::thread_count != nullptr ? rules_executorch::thread_count() : 1; }

void parallel_for(int64_t begin, int64_t end, int64_t grain, RangeFunction function) {
  if (begin >= end) {
    return;
  }
  if (end - begin > grain && thread_count() > 1) {
    run_on_threads(begin, end, grain, function);
  } else {
    function(begin, end);
  }
}

}  // namespace rules_executorch::kernels
