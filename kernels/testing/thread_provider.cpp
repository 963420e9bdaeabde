#include "kernels/testing/thread_provider.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/parallel/parallel_for.h"

namespace rules_executorch::kernels::testing {
namespace {

std::atomic<int64_t> threads_in_use = 1;
std::atomic<int64_t> part_count = 0;

}  // namespace

int64_t set_thread_count(int64_t count) { return threads_in_use.exchange(count); }

int64_t take_part_count() { return part_count.exchange(0); }

}  // namespace rules_executorch::kernels::testing

namespace rules_executorch {

int64_t thread_count() { return kernels::testing::threads_in_use; }

// Each part runs on its own thread, so that the thread sanitizer detects shared state of parts.
void run_on_threads(int64_t begin, int64_t end, int64_t part_size, RangeFunction function) {
  using kernels::testing::part_count;
  const int64_t parts = (end - begin + part_size - 1) / part_size;
  if (parts > part_count) {
    part_count = parts;
  }
  // All parts start together, because a part may finish before the next thread starts.
  std::mutex mutex;
  std::condition_variable all_are_here;
  int64_t missing = parts;
  std::vector<std::thread> threads;
  for (int64_t first = begin; first < end; first += part_size) {
    threads.emplace_back([&, first] {
      {
        std::unique_lock<std::mutex> lock(mutex);
        if (--missing == 0) {
          all_are_here.notify_all();
        }
        all_are_here.wait(lock, [&] { return missing == 0; });
      }
      function(first, std::min(end, first + part_size));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace rules_executorch
