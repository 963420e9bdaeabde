#include "kernels/common/parallel_for.h"

namespace rules_executorch::kernels {

bool has_threads() { return rules_executorch::has_threads != nullptr && rules_executorch::has_threads(); }

void parallel_for(int64_t begin, int64_t end, int64_t grain, RangeFunction function) {
  if (begin >= end) {
    return;
  }
  if (end - begin > grain && has_threads()) {
    run_on_threads(begin, end, grain, function);
  } else {
    function(begin, end);
  }
}

}  // namespace rules_executorch::kernels
