// Measures the peak of one core of this machine, with which benchmarks compare kernels: floating-point operations per
// second for each instruction set of the processor, and bytes per second of the memory.
//
//     taskset --cpu-list 0 tools/bazel run //tools/bench:machine_peak

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace {

constexpr double kSeconds = 1;
constexpr int64_t kLineBytes = 64;

/// Returns the smallest seconds of a call of `function`, among all calls in kSeconds, since other load of the machine
/// only makes a call longer. `between` runs before each call and is not timed.
template <typename Function, typename Between>
double least_seconds(const Function& function, const Between& between) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  double least = kSeconds;
  for (const auto first = Clock::now(); seconds_since(first) < kSeconds;) {
    between();
    const auto start = Clock::now();
    function();
    least = std::min(least, seconds_since(start));
  }
  return least;
}

template <typename Function>
double least_seconds(const Function& function) {
  return least_seconds(function, [] {});
}

template <int kBytes>
struct VectorOf {
  typedef float type __attribute__((vector_size(kBytes)));
};

constexpr int64_t kSteps = 100'000;

/// Computes `sums[i] = sums[i] * factor + addend`, kSteps times. Each sum begins with a volatile value of its own,
/// since the compiler would compute equal sums once. The compiler fuses the multiplication and the addition into one
/// instruction if the instruction set has such an instruction.
#define SUM_UP(kBytes, kCount)                                                                         \
  using Vector = VectorOf<kBytes>::type;                                                               \
  Vector sums[kCount];                                                                                 \
  for (Vector& sum : sums) {                                                                           \
    sum = Vector{} + factors[0];                                                                       \
  }                                                                                                    \
  Vector factor = Vector{} + factors[0];                                                               \
  Vector addend = Vector{} + factors[1];                                                               \
  for (int64_t step = 0; step < kSteps; ++step) {                                                      \
    _Pragma("GCC unroll 32") for (int i = 0; i < kCount; ++i) { sums[i] = sums[i] * factor + addend; } \
  }                                                                                                    \
  for (int i = 1; i < kCount; ++i) {                                                                   \
    sums[0] += sums[i];                                                                                \
  }                                                                                                    \
  std::memcpy(result, &sums[0], sizeof(float));                                                        \
  return kSteps * 2 * kCount * int64_t(kBytes / sizeof(float))

/// Returns the number of operations of a call.
using SumUp = int64_t (*)(const volatile float* factors, float* result);

int64_t sum_up(const volatile float* factors, float* result) { SUM_UP(16, 12); }

#if defined(__x86_64__)

[[gnu::target("avx")]] int64_t sum_up_avx(const volatile float* factors, float* result) { SUM_UP(32, 12); }
[[gnu::target("avx2,fma")]] int64_t sum_up_avx2(const volatile float* factors, float* result) { SUM_UP(32, 12); }
[[gnu::target("avx512f")]] int64_t sum_up_avx512(const volatile float* factors, float* result) { SUM_UP(64, 24); }

#endif

void print_operations(const char* name, SumUp sum_up) {
  const volatile float factors[] = {0.5f, 1.0f};
  float result = 0;
  int64_t operations = 0;
  const double seconds = least_seconds([&] { operations = sum_up(factors, &result); });
  std::printf("%-24s %8.1f GFLOP/s\n", name, static_cast<double>(operations) / seconds / 1e9);
}

void print_bandwidth(int64_t megabytes) {
  const int64_t size = megabytes << 20;
  std::vector<char> from(size, 1);
  std::vector<char> to(size, 2);
  // As in a runner, inputs and outputs are copied between the timed calls, so that caches have the end of these copies.
  const std::vector<char> arriving(size, 3);
  std::vector<char> leaving(size);
  const double copying = least_seconds([&] { std::memcpy(to.data(), from.data(), size); },
                                       [&] {
                                         std::memcpy(leaving.data(), to.data(), size);
                                         std::memcpy(from.data(), arriving.data(), size);
                                       });
  uint64_t sum = 0;
  const double reading = least_seconds([&] {
    for (int64_t i = 0; i < size; i += kLineBytes) {  // One byte of each cache line loads the whole line.
      sum += static_cast<unsigned char>(from[i]);
    }
  });
  const volatile uint64_t used = sum;
  (void)used;
  std::printf("copy of %4lld MB          %8.1f GB/s read and written\n", static_cast<long long>(megabytes),
              2e-9 * static_cast<double>(size) / copying);
  std::printf("read of %4lld MB          %8.1f GB/s\n", static_cast<long long>(megabytes),
              1e-9 * static_cast<double>(size) / reading);
}

}  // namespace

int main() {
  print_operations("baseline", &sum_up);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) {
    print_operations("AVX", &sum_up_avx);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    print_operations("AVX2 and FMA", &sum_up_avx2);
  }
  if (__builtin_cpu_supports("avx512f")) {
    print_operations("AVX-512", &sum_up_avx512);
  }
#endif
  for (const int64_t megabytes : {8, 16, 24, 256}) {
    print_bandwidth(megabytes);
  }
}
