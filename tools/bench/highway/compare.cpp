// Compares two libraries with the functions of routines.h: fails if a result differs, and prints a line for each case,
// `name<TAB>ns<TAB>ns`. The libraries take turns in rounds. The fastest round of each counts, since other load of the
// machine only makes a round longer.
//
//     compare FIRST.so SECOND.so ROUNDS

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include "tools/bench/highway/routines.h"

namespace {

/// Short routines are called many times in a round.
constexpr double kSecondsOfRound = 0.001;
/// Operands and results are aligned: with other addresses, more loads cross a cache line.
constexpr size_t kAlignment = 64;

void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

class Library {
 public:
  // RTLD_LAZY, because the functions of the runtime, which report errors, are missing.
  explicit Library(const char* path) : handle_(dlopen(path, RTLD_LAZY | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      fail(dlerror());
    }
  }

  template <typename Function>
  Function* function(const char* name) const {
    void* const found = dlsym(handle_, name);
    if (found == nullptr) {
      fail(dlerror());
    }
    return reinterpret_cast<Function*>(found);
  }

 private:
  void* handle_;
};

template <typename T>
using Array = std::unique_ptr<T[], decltype(&std::free)>;

template <typename T>
Array<T> make_array(int64_t size) {
  const size_t bytes = (size * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
  return {static_cast<T*>(std::aligned_alloc(kAlignment, bytes)), &std::free};
}

std::mt19937 random_bits;

Array<float> random_floats(int64_t size, float least, float most) {
  Array<float> floats = make_array<float>(size);
  std::generate_n(floats.get(), size, [&] { return std::uniform_real_distribution<float>(least, most)(random_bits); });
  return floats;
}

Array<char> random_bytes(int64_t size) {
  Array<char> bytes = make_array<char>(size);
  std::generate_n(bytes.get(), size, [] { return static_cast<char>(random_bits()); });
  return bytes;
}

double seconds_of(const std::function<void()>& call, int64_t calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < calls; ++i) {
    call();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Comparison {
 public:
  Comparison(const Library& first, const Library& second, int rounds) : libraries_{first, second}, rounds_(rounds) {}

  /// Compares `call(function, out)` of both libraries. The results, `size` elements, may differ by `tolerance`.
  template <typename Function, typename T, typename Call>
  void compare(const char* name, const char* symbol, int64_t size, T tolerance, const Call& call) const {
    const Array<T> outs[] = {make_array<T>(size), make_array<T>(size)};
    std::function<void()> calls[2];
    for (int i = 0; i < 2; ++i) {
      std::fill_n(outs[i].get(), size, T(0));
      calls[i] = [&call, function = libraries_[i].function<Function>(symbol), out = outs[i].get()] {
        call(function, out);
      };
      calls[i]();
    }
    const auto is_close = [=](T x, T y) { return x == y || std::abs(x - y) <= tolerance; };
    if (!std::equal(outs[0].get(), outs[0].get() + size, outs[1].get(), is_close)) {
      fail(std::string(name) + ": the results differ");
    }
    const int64_t count = 1 + static_cast<int64_t>(kSecondsOfRound / seconds_of(calls[0], 1));
    double best[] = {INFINITY, INFINITY};
    for (int round = 0; round < rounds_; ++round) {
      for (const int turn : {0, 1}) {
        const int i = (round + turn) % 2;  // The first library does not always come first.
        best[i] = std::min(best[i], seconds_of(calls[i], count) / static_cast<double>(count));
      }
    }
    std::printf("%s\t%.1f\t%.1f\n", name, 1e9 * best[0], 1e9 * best[1]);
  }

 private:
  Library libraries_[2];
  int rounds_;
};

void compare_floats(const Comparison& comparison) {
  constexpr int64_t kRows = 36, kInputs = 768, kFewOutputs = 768, kOutputs = 3072;
  // Compilers fuse other multiplications and additions of a sum.
  constexpr float kTolerance = 1e-4f;
  const Array<float> a = random_floats(kRows * kInputs, -1, 1);
  const Array<float> b = random_floats(kInputs * kOutputs, -1, 1);
  const auto multiply = [&](int64_t rows, int64_t outputs) {
    return [&, rows, outputs](auto* function, float* out) { function(a.get(), b.get(), out, rows, kInputs, outputs); };
  };
  const auto add = [&](auto* function, float* out) { function(a.get(), b.get(), out, kInputs, kOutputs); };
  using Multiply = decltype(multiply_floats);
  comparison.compare<Multiply>("product of floats, 36x768x768", "multiply_floats", kRows * kFewOutputs, kTolerance,
                               multiply(kRows, kFewOutputs));
  comparison.compare<Multiply>("product of floats, 1x768x3072", "multiply_floats", kOutputs, kTolerance,
                               multiply(1, kOutputs));
  comparison.compare<decltype(add_row)>("product of floats, 1x768x3072, not packed", "add_row", kOutputs, kTolerance,
                                        add);
}

void compare_exponentials(const Comparison& comparison) {
  constexpr int64_t kSize = 4099;                         // The last vector is not full.
  const Array<float> in = random_floats(kSize, -87, 88);  // Denormal results take longer.
  const auto call = [&](auto* function, float* out) { function(kSize, out, in.get()); };
  comparison.compare<decltype(exponentials)>("`exp` of 4099 floats", "exponentials", kSize, 0.0f, call);
  comparison.compare<decltype(silus)>("`silu` of 4099 floats", "silus", kSize, 0.0f, call);
}

void compare_bytes(const Comparison& comparison) {
  constexpr int64_t kRows = 64, kInputs = 768, kFewOutputs = 768, kOutputs = 3072;
  const Array<char> a = random_bytes(kRows * kInputs);
  const Array<char> b = random_bytes(kInputs * kOutputs);
  const Array<float> scales = random_floats(kOutputs, 1e-4f, 2e-4f);
  const Array<float> offsets = random_floats(kOutputs, 100, 150);
  const auto multiply = [&](int64_t rows, int64_t outputs) {
    return [&, rows, outputs](auto* function, char* out) {
      function(a.get(), b.get(), scales.get(), offsets.get(), out, rows, kInputs, outputs);
    };
  };
  using Multiply = decltype(multiply_bytes);
  comparison.compare<Multiply>("product of bytes, 64x768x768", "multiply_bytes", kRows * kFewOutputs, char{0},
                               multiply(kRows, kFewOutputs));
  comparison.compare<Multiply>("product of bytes, 1x768x3072", "multiply_bytes", kOutputs, char{0},
                               multiply(1, kOutputs));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fail("usage: compare FIRST.so SECOND.so ROUNDS");
  }
  const Comparison comparison(Library{argv[1]}, Library{argv[2]}, std::atoi(argv[3]));
  compare_floats(comparison);
  compare_exponentials(comparison);
  compare_bytes(comparison);
}
