#include <algorithm>

#include "kernels/gemm/matmul.h"
#include "kernels/math/vectorize.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The product of `in` and a weight with a scale for each row. The scales are applied to the columns of `in`.
class MixedProduct final : public MatrixProduct {
 public:
  MixedProduct(const ConstStridedView& in, const ConstStridedView& weight, const ConstStridedView& scales,
               const StridedView& out)
      : MatrixProduct(product_loops<float>(), {1, in.sizes[0], in.sizes[1], weight.sizes[1]}),
        in_(matrices_of(in)),
        scales_(scales),
        out_(matrices_of(out)) {
    b_ = matrices_of(weight);
    if (is_in_place(out_)) {
      sums_ = out_;
    }
  }

 private:
  void load_a(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
              int64_t stride) const override {
    const int64_t step = scales_.strides[0] * scales_.element_size();
    for (int64_t start = 0; start < columns; start += kBlockSize) {
      const int64_t part = std::min(kBlockSize, columns - start);
      float factors[kBlockSize];
      load_block(scales_.dtype, scales_.data + (column + start) * step, step, ScalarType::Float, factors, part);
      for (int64_t i = 0; i < rows; ++i) {
        float* const values = reinterpret_cast<float*>(target + i * stride) + start;
        load_block(in_.dtype, in_.at(batch, row + i, column + start), in_.column_stride, ScalarType::Float, values,
                   part);
        vectorized_for(part, [values, &factors](int64_t j) { values[j] *= factors[j]; });
      }
    }
  }

  void store(int64_t batch, int64_t row, int64_t column, int64_t n, char* totals) const override {
    if (sums_.data == nullptr) {
      store_row(out_, batch, row, column, n, totals);
    }
  }

  ConstMatrices in_;
  const ConstStridedView& scales_;
  Matrices out_;
};

}  // namespace

Tensor& quantized_mixed_mm_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight, const Tensor& scales,
                               const std::optional<Tensor>& zero_points, Tensor& out) {
  // Check: ExecuTorch's kernel does not support zero points, either.
  ET_KERNEL_CHECK(ctx, compute_type(in.scalar_type()) == ScalarType::Float, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, scales, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, weight.scalar_type() == ScalarType::Char, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensor_is_rank(in, 2) && tensor_is_rank(weight, 2), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_size_at_dims(in, 1, weight, 0), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensor_is_rank(scales, 1) && scales.sizes()[0] == weight.sizes()[0], InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, !zero_points.has_value(), InvalidArgument, out);

  // Resize
  const Tensor::SizesType sizes[] = {in.sizes()[0], weight.sizes()[1]};
  ET_KERNEL_CHECK(ctx, resize_to(out, sizes), InvalidArgument, out);

  // Compute
  ProductScratch scratch(ctx);
  const ConstStridedView scale_view(scales);
  MixedProduct(ConstStridedView(in), ConstStridedView(weight), scale_view, StridedView(out)).compute(scratch);
  return out;
}

}  // namespace torch::executor::native
