// Ranges on the threads of ExecuTorch's pool.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "kernels/parallel/parallel_for.h"
#include "runtime/kernel_api/threads.h"

namespace rules_executorch::kernels {
namespace {

constexpr uint32_t kThreads = 2;

TEST(ThreadPoolTest, ThreadsTakePartsOfOthers) {
  ASSERT_TRUE(use_threads(kThreads));
  const int64_t parts = part_count(100);
  ASSERT_GT(parts, int64_t{kThreads});
  // The thread of the first part has other parts, which it cannot compute while it waits.
  std::atomic<int64_t> others = 0;
  parallel_for(0, parts, 1, [&](int64_t first, int64_t) {
    if (first > 0) {
      ++others;
      return;
    }
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (others < parts - 1 && std::chrono::steady_clock::now() < limit) {
      std::this_thread::yield();
    }
    EXPECT_EQ(others, parts - 1);
  });
}

TEST(ThreadPoolTest, PartsWithTheSameThreadDoNotOverlap) {
  for (const uint32_t threads : {2u, 3u, 8u}) {
    ASSERT_TRUE(use_threads(threads));
    // Also fewer parts than threads.
    for (const int64_t parts : {int64_t{2}, int64_t{threads}, 4 * int64_t{threads}}) {
      std::atomic<int> running[8] = {};
      std::atomic<int64_t> items = 0;
      for (int round = 0; round < 100; ++round) {
        parallel_for_with_thread(0, parts, 1, [&](int64_t thread, int64_t first, int64_t last) {
          ASSERT_GE(thread, 0);
          ASSERT_LT(thread, std::min(parts, int64_t{threads}));
          EXPECT_EQ(running[thread]++, 0);
          EXPECT_EQ(thread_count(), 1);
          std::this_thread::yield();
          items += last - first;
          --running[thread];
        });
      }
      EXPECT_EQ(items, 100 * parts);
    }
  }
}

}  // namespace
}  // namespace rules_executorch::kernels
