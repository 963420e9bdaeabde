#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/compiled/compiled_program.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

// For generated tests of compiled programs, on processors without an operating system as well: no heap, no files.
namespace compiled_program::check {

/// How elements are compared. Elements of kind kBits must be equal.
enum class Kind { kBits, kHalf, kBFloat16, kFloat, kDouble };

/// The allowed difference of an output. runtime/tolerances/tolerances.yaml describes the numbers, which depend on the
/// expected output only, so that the code generator computes them.
struct Bounds {
  Kind kind = Kind::kBits;
  /// An element is close if |actual - expected| <= absolute + relative * |expected| + of_largest * max(|expected|,
  /// largest).
  double absolute = 0;
  double relative = 0;
  double of_largest = 0;
  double largest = 0;
  /// Close elements with |expected| above this number do not count for the ratio.
  double outlier = 0;
  /// The least ratio of the squares of the expected elements to the squares of the differences, unless no difference is
  /// above `small`.
  double least_ratio = 0;
  double small = 0;
};

/// Memory between bytes that nobody may change or, with the address sanitizer, read.
template <typename Memory>
struct Guarded {
  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kMark = 0xA5;

  Guarded() {
    for (size_t i = 0; i < kGuard; ++i) {
      before[i] = after[i] = kMark;
    }
#ifdef __SANITIZE_ADDRESS__
    __asan_poison_memory_region(before, kGuard);
    __asan_poison_memory_region(after, kGuard);
#endif
  }

  bool is_intact() const {
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(before, kGuard);
    __asan_unpoison_memory_region(after, kGuard);
#endif
    bool intact = true;
    for (size_t i = 0; i < kGuard; ++i) {
      intact &= before[i] == kMark && after[i] == kMark;
    }
    return intact;
  }

  alignas(64) uint8_t before[kGuard];
  Memory content;
  uint8_t after[kGuard];
};

/// Runs samples, and writes what differs.
class Check {
 public:
  /// `samples` has the inputs and the expected outputs of all samples.
  explicit Check(const uint8_t* samples) : samples_(samples) {}

  void begin_method(const char* name);
  void begin_sample(int32_t sample) { sample_ = sample; }

  /// Copies an input from the samples.
  void copy(void* to, size_t offset, size_t bytes);

  /// Writes a failure of a call. `scratch_bytes` is the scratch memory that the call asked for.
  bool succeeded(Status status, const char* operator_name = "", const char* source_line = "", size_t scratch_bytes = 0);

  template <typename Method>
  bool run(Method& method) {
    const Status status = method.run();
    return succeeded(status, Method::operator_name(status.instruction), Method::source_line(status.instruction),
                     method.scratch_used());
  }

  /// Runs a new object, whose inputs have the largest sizes and the elements 0, to see whether the scratch memory is
  /// enough.
  template <typename Method>
  void run_at_bounds(Method& method) {
    const Status status = method.run();
    ran_at_bounds(status, Method::operator_name(status.instruction), Method::source_line(status.instruction),
                  method.scratch_used());
    method.reset();
  }

  /// Compares the elements of an output with the expected ones in the samples.
  template <typename T>
  void compare(int32_t output, const T* actual, size_t offset, size_t count, const Bounds& bounds) {
    compare_elements(output, reinterpret_cast<const uint8_t*>(actual), samples_ + offset, count, sizeof(T), bounds);
  }

  template <size_t kRank>
  void compare_sizes(int32_t output, const int32_t* actual, const int32_t (&expected)[kRank]) {
    compare_sizes(output, actual, expected, kRank);
  }

  void end_method(bool memory_is_intact, size_t planned_bytes, size_t scratch_bytes);

  /// The exit code: 0 if all outputs are equal.
  int end() const;

 private:
  void ran_at_bounds(Status status, const char* operator_name, const char* source_line, size_t scratch_bytes);
  void compare_elements(int32_t output, const uint8_t* actual, const uint8_t* expected, size_t count, size_t size,
                        const Bounds& bounds);
  void compare_sizes(int32_t output, const int32_t* actual, const int32_t* expected, size_t rank);
  void fail(int32_t output);

  const uint8_t* samples_;
  const char* method_ = "";
  int32_t sample_ = -1;  // before the first sample
  int32_t compared_ = 0;
  bool failed_ = false;
};

}  // namespace compiled_program::check
