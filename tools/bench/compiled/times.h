#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace compiled_bench {

/// The inputs of both ways to run a program.
inline void fill(float* input, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof(float); ++i) {
    input[i] = static_cast<float>(i % 13) / 13;
  }
}
inline void fill(int64_t* input, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof(int64_t); ++i) {
    input[i] = 1;
  }
}

/// The outputs of an inference. No elements: the inference failed.
struct Outputs {
  const float* elements;
  size_t count;
};

inline long long nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

/// Runs one inference, and `runs` more. Prints when the first one ended, by the monotonic clock, the processor time of
/// one of the others, and the outputs of the first. Returns the exit status of the process.
template <typename Inference>
int measure(const char* runs, const Inference& inference) {
  const Outputs outputs = inference();
  const long long first_end = nanoseconds(CLOCK_MONOTONIC);
  if (outputs.count == 0) {
    std::fprintf(stderr, "the inference failed\n");
    return 1;
  }
  std::printf("{\"first_end\": %lld, \"outputs\": [", first_end);
  for (size_t i = 0; i < outputs.count; ++i) {
    std::printf("%s%.9g", i == 0 ? "" : ", ", static_cast<double>(outputs.elements[i]));
  }
  const long count = std::strtol(runs, nullptr, 10);
  const long long start = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  for (long i = 0; i < count; ++i) {
    if (inference().count == 0) {
      return 1;
    }
  }
  const long long taken = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - start;
  std::printf("], \"inference\": %.1f}\n", static_cast<double>(taken) / static_cast<double>(count));
  return 0;
}

}  // namespace compiled_bench
