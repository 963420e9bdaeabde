#include "kernels/parallel/parallel_for.h"

#include <algorithm>

namespace rules_executorch::kernels {
namespace {

// With more, the parts of small products cost more than the waits.
constexpr int64_t kPartsOfThread = 4;

}  // namespace

int64_t part_count(int64_t most) {
  const int64_t threads = thread_count();
  const int64_t parts = std::clamp<int64_t>(most, 1, threads > 1 ? kPartsOfThread * threads : 1);
  return parts > threads ? parts / threads * threads : parts;
}

void parallel_for(int64_t begin, int64_t end, int64_t grain, RangeFunction function) {
  parallel_for_with_thread(begin, end, grain, [&](int64_t, int64_t first, int64_t last) { function(first, last); });
}

void parallel_for_with_thread(int64_t begin, int64_t end, int64_t grain, ThreadFunction function) {
  if (begin >= end) {
    return;
  }
  const int64_t items = end - begin;
  const int64_t least = std::max<int64_t>(grain, 1);
  const int64_t parts = part_count((items + least - 1) / least);
  if (parts > 1) {
    run_on_threads(begin, end, parts, function);
  } else {
    function(/*thread=*/0, begin, end);
  }
}

}  // namespace rules_executorch::kernels
