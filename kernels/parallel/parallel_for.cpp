#include "kernels/parallel/parallel_for.h"

#include <algorithm>

namespace rules_executorch::kernels {
namespace {

// With more, the parts of small products cost more than the waits.
constexpr int64_t kPartsOfThread = 4;

}  // namespace

int64_t thread_count() { return rules_executorch::thread_count != nullptr ? rules_executorch::thread_count() : 1; }

int64_t most_parts() {
  const int64_t threads = thread_count();
  return threads > 1 ? kPartsOfThread * threads : 1;
}

void parallel_for(int64_t begin, int64_t end, int64_t grain, RangeFunction function) {
  if (begin >= end) {
    return;
  }
  const int64_t items = end - begin;
  const int64_t least = std::max<int64_t>(grain, 1);
  const int64_t parts = items > least ? std::min(most_parts(), (items + least - 1) / least) : 1;
  if (parts > 1) {
    run_on_threads(begin, end, (items + parts - 1) / parts, function);
  } else {
    function(begin, end);
  }
}

}  // namespace rules_executorch::kernels
