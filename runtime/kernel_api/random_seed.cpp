#include "runtime/kernel_api/random_seed.h"

#include <atomic>

namespace rules_executorch {
namespace {

// Atomic, because programs may run on several threads. Of 32 bits, because small processors have atomic operations
// without a lock for these.
std::atomic<bool> is_set{false};
std::atomic<uint32_t> low_half{0};
std::atomic<uint32_t> high_half{0};
std::atomic<uint32_t> calls{0};

}  // namespace

void set_random_seed(uint64_t seed) {
  low_half = static_cast<uint32_t>(seed);
  high_half = static_cast<uint32_t>(seed >> 32);
  calls = 0;
  is_set = true;
}

bool next_random_seed(uint64_t& seed, uint32_t& call) {
  if (!is_set) {
    return false;
  }
  seed = uint64_t{high_half} << 32 | low_half;
  call = calls.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace rules_executorch
