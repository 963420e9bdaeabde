// Prints a hash of the results of the kernels' loops, and on a second line the bytes of stack that the loops use.

#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "kernels/elementwise/elementwise.h"
#include "kernels/math/vectorize.h"
#include "kernels/reduce/lines.h"
#include "kernels/reduce/reduction.h"
#include "kernels/tensors/dims.h"
#include "kernels/testing/tensors.h"

namespace rules_executorch::kernels {
namespace {

using testing::OwnedTensor;

struct Sum {
  using Argument = float;
  using Accumulator = float;
  using Result = float;
  float start() const { return 0; }
  void add(float& total, float value) const { total += value; }
  void merge(float& total, float other) const { total += other; }
  float finish(float total) const { return total; }
};

struct Tensors {
  OwnedTensor<Half> a{{37, 1100}};
  OwnedTensor<BFloat16> b{{37, 1100}, {1, 0}};
  OwnedTensor<Half> product{{37, 1100}, {1, 0}};
  OwnedTensor<Half> rows{{37, 1}};
  OwnedTensor<Half> columns{{1, 1100}};
  OwnedTensor<Half> shares{{37, 1100}};
};

void* compute(void* argument) {
  Tensors& tensors = *static_cast<Tensors*>(argument);
  elementwise([](float x, float y) -> float { return x * y; }, tensors.product.tensor(), tensors.a.tensor(),
              tensors.b.tensor());
  DimSet last;
  last.insert(1);
  reduce(Sum{}, tensors.a.tensor(), last, tensors.rows.tensor());
  DimSet first;
  first.insert(0);
  reduce(Sum{}, tensors.a.tensor(), first, tensors.columns.tensor());
  apply_to_lines<float>(
      [](Line<float>& line) {
        LaneReduction<float> sum(0);
        const auto plus = [](float x, float y) { return x + y; };
        line.read([&](const float* x, int64_t, int64_t n) { sum.add(n, x, plus); });
        const float total = sum.result(plus);
        const auto copy = [](float* results, const float* x, int64_t, int64_t n) { std::copy_n(x, n, results); };
        line.write(copy, copy, [total](float* results, const float* x, int64_t, int64_t n) {
          vectorized_for(n, [=](int64_t i) { results[i] = x[i] / total; });
        });
      },
      tensors.a.tensor(), 1, tensors.shares.tensor());
  return nullptr;
}

template <typename T>
void add_to_hash(OwnedTensor<T>& tensor, uint64_t& hash) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(tensor.data());
  for (size_t i = 0; i < tensor.numel() * sizeof(T); ++i) {
    hash = (hash ^ bytes[i]) * 1099511628211u;
  }
}

int print_stack_use() {
  constexpr size_t kStack = 1 << 20;
  constexpr unsigned char kPaint = 0xa5;
  void* stack = std::aligned_alloc(4096, kStack);
  std::memset(stack, kPaint, kStack);

  Tensors tensors;
  std::mt19937 random(1);
  tensors.a.fill_with_fractions(random);
  tensors.b.fill_with_fractions(random);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, kStack);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, &compute, &tensors) != 0 || pthread_join(thread, nullptr) != 0) {
    return 1;
  }

  uint64_t hash = 14695981039346656037u;
  add_to_hash(tensors.product, hash);
  add_to_hash(tensors.rows, hash);
  add_to_hash(tensors.columns, hash);
  add_to_hash(tensors.shares, hash);
  const auto* bytes = static_cast<const unsigned char*>(stack);
  const auto* used = std::find_if(bytes, bytes + kStack, [](unsigned char byte) { return byte != kPaint; });
  std::printf("%016llx\n%zu\n", static_cast<unsigned long long>(hash), static_cast<size_t>(bytes + kStack - used));
  return 0;
}

}  // namespace
}  // namespace rules_executorch::kernels

int main() { return rules_executorch::kernels::print_stack_use(); }
