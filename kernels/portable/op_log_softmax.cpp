#include <cstdint>

#include "kernels/math/exponentials.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/reduce/lines.h"
#include "kernels/reduce/softmax.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
void log_softmax(Line<T>& line) {
  const T largest = largest_of(line);
  LaneReduction<T> sum(0);
  line.read([&](const T* x, int64_t, int64_t n) {
    T powers[kBlockSize];
    math::exp_of_negative(n, powers, x, largest, sum);
  });
  const T log_of_sum = math::log(sum.result([](T a, T b) { return a + b; }));
  line.scan([=](T* results, const T* x, int64_t, int64_t n) {
    vectorized_for(n, [=](int64_t i) { results[i] = (x[i] - largest) - log_of_sum; });
  });
}

}  // namespace

Tensor& log_softmax_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool half_to_float, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_log_softmax.out");
  return softmax_lines_out<op_name>(ctx, in, dim, half_to_float, out, [](auto& line) { log_softmax(line); });
}

}  // namespace torch::executor::native
