#include "kernels/parallel/parallel_for.h"

#include <algorithm>

namespace rules_executorch::kernels {

int64_t thread_count() { return rules_executorch::thread_count != nullptr ? rules_executorch::thread_count() : 1; }

void parallel_for(int64_t begin, int64_t end, int64_t grain, RangeFunction function) {
  if (begin >= end) {
    return;
  }
  const int64_t items = end - begin;
  const int64_t least = std::max<int64_t>(grain, 1);
  const int64_t parts = items > least ? std::min(thread_count(), (items + least - 1) / least) : 1;
  if (parts > 1) {
    run_on_threads(begin, end, (items + parts - 1) / parts, function);
  } else {
    function(begin, end);
  }
}

}  // namespace rules_executorch::kernels
