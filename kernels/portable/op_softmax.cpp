#include <cstdint>

#include "kernels/math/exponentials.h"
#include "kernels/math/vectorize.h"
#include "kernels/reduce/lines.h"
#include "kernels/reduce/softmax.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
void softmax(Line<T>& line) {
  const T largest = largest_of(line);
  LaneReduction<T> sum(0);
  const auto exponentials = [largest](T* results, const T* x, int64_t n, LaneReduction<T>& total) {
    math::exp_of_negative(n, results, x, largest, total);
  };
  line.write([&](T* results, const T* x, int64_t, int64_t n) { exponentials(results, x, n, sum); },
             [&](T* results, const T* x, int64_t, int64_t n) {
               LaneReduction<T> unused(0);
               exponentials(results, x, n, unused);
             },
             [&](T* results, const T* x, int64_t, int64_t n) {
               // The sum is from 1 to the length of the line, so that the quotient is finite.
               const T scale = 1 / sum.result([](T a, T b) { return a + b; });
               vectorized_for(n, [=](int64_t i) { results[i] = x[i] * scale; });
             });
}

}  // namespace

Tensor& softmax_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool half_to_float, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_softmax.out");
  return softmax_lines_out<op_name>(ctx, in, dim, half_to_float, out, [](auto& line) { softmax(line); });
}

}  // namespace torch::executor::native
