#include <algorithm>
#include <optional>

#include "kernels/common/dtype.h"
#include "kernels/common/planes.h"
#include "kernels/common/upsampling.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The two input elements around an output element, and the weight of the second one.
template <typename T>
struct Neighbors {
  int64_t first;
  int64_t second;
  T weight;

  Neighbors() = default;
  Neighbors(const Upsampling& upsampling, int64_t d, bool align_corners, int64_t i) {
    const int64_t in_size = upsampling.in_size[d];
    T position;
    if (align_corners) {
      position = upsampling.aligned_step<T>(d) * static_cast<T>(i);
    } else {
      position = std::max(upsampling.step<T>(d) * (static_cast<T>(i) + T(0.5)) - T(0.5), T(0));
    }
    first = std::min(static_cast<int64_t>(position), in_size - 1);
    second = std::min(first + 1, in_size - 1);
    weight = std::min(std::max(position - static_cast<T>(first), T(0)), T(1));
  }
};

}  // namespace

Tensor& upsample_bilinear2d_vec_out(KernelRuntimeContext& ctx, const Tensor& in,
                                    std::optional<ArrayRef<int64_t>> output_size, bool align_corners,
                                    std::optional<ArrayRef<double>> scale_factors, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "upsample_bilinear2d.vec_out");

  // Check
  Upsampling upsampling;
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, upsampling.init(in, output_size, scale_factors), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, upsampling.resize(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    for_each_plane<CTYPE>(in, out, /*work=*/8, [&](const auto& source, const auto& target) {
      // Some columns at a time, whose neighbors are the same in all rows.
      constexpr int64_t kColumns = 32;
      Neighbors<CTYPE> columns[kColumns];
      for (int64_t start = 0; start < upsampling.out_size[1]; start += kColumns) {
        const int64_t n = std::min(kColumns, upsampling.out_size[1] - start);
        for (int64_t j = 0; j < n; ++j) {
          columns[j] = Neighbors<CTYPE>(upsampling, 1, align_corners, start + j);
        }
        for (int64_t i = 0; i < upsampling.out_size[0]; ++i) {
          const Neighbors<CTYPE> y(upsampling, 0, align_corners, i);
          for (int64_t j = 0; j < n; ++j) {
            const Neighbors<CTYPE>& x = columns[j];
            const auto between = [&](int64_t row) {
              return (1 - x.weight) * source.load(row, x.first) + x.weight * source.load(row, x.second);
            };
            target.store(i, start + j, (1 - y.weight) * between(y.first) + y.weight * between(y.second));
          }
        }
      }
    });
  });
  return out;
}

}  // namespace torch::executor::native
