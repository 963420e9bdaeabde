#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/elementwise/random.h"
#include "kernels/reduce/sort.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Reads the weights of the categories, and returns their sum. -1 if a weight is negative, infinite or NaN.
double load_probabilities(const ConstStridedView& in, int64_t row, int64_t n, double* weights) {
  const int64_t stride = in.strides[in.rank - 1] * in.element_size();
  const char* const data = in.data + (in.rank == 2 ? row * in.strides[0] * in.element_size() : 0);
  double sum = 0;
  for (int64_t start = 0; start < n; start += kBlockSize) {
    const int64_t count = std::min(kBlockSize, n - start);
    load_block(in.dtype, data + start * stride, stride, ScalarType::Double, weights + start, count);
    for (int64_t i = start; i < start + count; ++i) {
      if (!(weights[i] >= 0 && std::isfinite(weights[i]))) {
        return -1;
      }
      sum += weights[i];
    }
  }
  return sum;
}

/// Draws `count` categories, each independent of the others.
template <typename Write>
void draw_again(const RandomNumbers& numbers, uint64_t first, double* weights, int64_t n, int64_t count,
                const Write& write) {
  int64_t last = 0;  // the last category with a weight
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    last = weights[i] > 0 ? i : last;
    sum += weights[i];
    weights[i] = sum;
  }
  for (int64_t i = 0; i < count; ++i) {
    const double target = numbers.between_0_and_1(first + i) * sum;
    // The first category whose sum exceeds the number has a weight. Rounding may give the whole sum.
    write(i, std::min<int64_t>(std::upper_bound(weights, weights + n, target) - weights, last));
  }
}

/// Draws `count` categories without repetition: those with the largest quotients of the weight and an exponential
/// number, as PyTorch does. `ranked` has memory for `n` elements.
template <typename Write>
void draw_once(const RandomNumbers& numbers, uint64_t first, double* weights, int64_t n, int64_t count,
               Ranked<uint64_t>* ranked, const Write& write) {
  for (int64_t i = 0; i < n; ++i) {
    weights[i] /= -std::log(numbers.between_0_and_1(first + i));
  }
  const auto* const data = reinterpret_cast<const char*>(weights);
  rank_elements(ScalarType::Double, data, sizeof(double), n, /*descending=*/true, ranked);
  std::nth_element(ranked, ranked + count - 1, ranked + n);
  std::sort(ranked, ranked + count);
  for (int64_t i = 0; i < count; ++i) {
    write(i, ranked[i].index);
  }
}

}  // namespace

Tensor& multinomial_out(KernelRuntimeContext& ctx, const Tensor& in_tensor, int64_t num_samples, bool replacement,
                        std::optional<int64_t> generator, Tensor& out_tensor) {
  // Check: a program has no generators. The number of categories is that of PyTorch.
  (void)generator;
  constexpr int64_t kMostCategories = int64_t{1} << 24;
  const ConstStridedView in(in_tensor);
  ET_KERNEL_CHECK(ctx, isFloatingType(in.dtype) && is_supported(in.dtype), InvalidArgument, out_tensor);
  ET_KERNEL_CHECK(ctx, out_tensor.scalar_type() == ScalarType::Long, InvalidArgument, out_tensor);
  ET_KERNEL_CHECK(ctx, in.rank == 1 || in.rank == 2, InvalidArgument, out_tensor);
  const int64_t n = in.sizes[in.rank - 1];
  ET_KERNEL_CHECK(ctx, num_samples > 0 && n > 0 && n <= kMostCategories, InvalidArgument, out_tensor);
  ET_KERNEL_CHECK(ctx, replacement || num_samples <= n, InvalidArgument, out_tensor);

  // Resize
  const int64_t size[] = {in.sizes[0], num_samples};
  const ArrayRef<int64_t> sizes(in.rank == 1 ? size + 1 : size, static_cast<size_t>(in.rank));
  ET_KERNEL_CHECK(ctx, resize_to_size(out_tensor, sizes), InvalidArgument, out_tensor);

  // Compute
  const size_t bytes = static_cast<size_t>(n) * (sizeof(double) + (replacement ? 0 : sizeof(Ranked<uint64_t>)));
  const auto memory = ctx.allocate_temp(bytes, alignof(double));
  ET_KERNEL_CHECK(ctx, memory.ok(), MemoryAllocationFailed, out_tensor);
  auto* const weights = static_cast<double*>(*memory);
  auto* const ranked = reinterpret_cast<Ranked<uint64_t>*>(weights + n);
  const StridedView out(out_tensor);
  const RandomNumbers numbers;
  const int64_t rows = in.rank == 1 ? 1 : in.sizes[0];
  for (int64_t row = 0; row < rows; ++row) {
    const double sum = load_probabilities(in, row, n, weights);
    ET_KERNEL_CHECK(ctx, sum > 0 && std::isfinite(sum), InvalidArgument, out_tensor);
    const auto write = [&](int64_t i, int64_t category) {
      const int64_t offset = (in.rank == 2 ? row * out.strides[0] : 0) + i * out.strides[out.rank - 1];
      reinterpret_cast<int64_t*>(out.data)[offset] = category;
    };
    if (replacement) {
      draw_again(numbers, static_cast<uint64_t>(row * num_samples), weights, n, num_samples, write);
    } else {
      draw_once(numbers, static_cast<uint64_t>(row * n), weights, n, num_samples, ranked, write);
    }
  }
  return out_tensor;
}

}  // namespace torch::executor::native
