// Gives ExecuTorch's pool of threads, which backends and the wheel's kernels use, as many threads as the environment
// says. Otherwise the pool has one for each processor of the machine, and these wait for each other where fewer are
// allowed.
#include <cstdint>
#include <cstdlib>

namespace executorch::extension::threadpool {

// As the wheel's library defines it; the wheel has no header of it.
class ThreadPool {
 public:
  bool _unsafe_reset_threadpool(uint32_t threads);
};

ThreadPool* get_threadpool();

}  // namespace executorch::extension::threadpool

namespace {

const bool kIsReset = [] {
  const char* threads = std::getenv("PEERS_BENCH_THREADS");
  return threads != nullptr && executorch::extension::threadpool::get_threadpool()->_unsafe_reset_threadpool(
                                   static_cast<uint32_t>(std::atoi(threads)));
}();

}  // namespace
