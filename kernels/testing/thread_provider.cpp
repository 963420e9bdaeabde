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

// All threads run, so that the thread sanitizer detects shared state of their parts.
void run_on_all_threads(int64_t begin, int64_t end, int64_t parts, ThreadFunction function) {
  if (parts > part_count) {
    part_count = parts;
  }
  // All threads start together, because a part may finish before the next thread starts.
  std::mutex mutex;
  std::condition_variable all_are_here;
  const int64_t count = std::min<int64_t>(parts, threads_in_use);
  int64_t missing = count;
  std::vector<std::thread> threads;
  for (int64_t thread = 0; thread < count; ++thread) {
    threads.emplace_back([&, thread] {
      {
        std::unique_lock<std::mutex> lock(mutex);
        if (--missing == 0) {
          all_are_here.notify_all();
        }
        all_are_here.wait(lock, [&] { return missing == 0; });
      }
      for (int64_t part = thread; part < parts; part += count) {
        function(thread, part_begin(begin, end, parts, part), part_begin(begin, end, parts, part + 1));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

constexpr ThreadPool kPool = {[] { return threads_in_use.load(); }, run_on_all_threads, /*use_threads=*/nullptr};

}  // namespace

int64_t set_thread_count(int64_t count) {
  set_thread_pool(&kPool);
  return threads_in_use.exchange(count);
}

int64_t take_part_count() { return part_count.exchange(0); }

}  // namespace rules_executorch::kernels::testing
