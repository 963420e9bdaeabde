#include <cstdint>

#include "kernels/common/lines.h"
#include "kernels/common/softmax.h"
#include "kernels/common/vector_math.h"
#include "kernels/common/vectorize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
void softmax(Line<T>& line) {
  const T largest = largest_of(line);
  LaneReduction<T> sum(0);
  const auto plus = [](T a, T b) { return a + b; };
  line.write(
      [largest](T* results, const T* x, int64_t, int64_t n) {
        wide_vectorized_for(
            n, [=](int64_t i) KERNELS_ALWAYS_INLINE { results[i] = math::exp_of_negative(x[i] - largest); });
      },
      [&](const T* x, int64_t, int64_t n) { sum.add(n, x, plus); },
      [&](T* results, const T* x, int64_t, int64_t n) {
        // The sum is between 1 and the line's length.
        const T scale = 1 / sum.result(plus);
        vectorized_for(n, [=](int64_t i) { results[i] = x[i] * scale; });
      });
}

}  // namespace

Tensor& softmax_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool half_to_float, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_softmax.out");
  return softmax_lines_out<op_name>(ctx, in, dim, half_to_float, out, [](auto& line) { softmax(line); });
}

}  // namespace torch::executor::native
