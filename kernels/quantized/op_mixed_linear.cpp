#include <algorithm>

#include "kernels/gemm/matmul.h"
#include "kernels/math/vectorize.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The product of a weight and the transposed `in`. Each row of the weight has a scale, or a scale for each group of
/// columns. The rows of the product are the columns of `out`.
class MixedLinearProduct final : public MatrixProduct {
 public:
  MixedLinearProduct(const ConstStridedView& weight, const ConstStridedView& scales, int64_t group_size,
                     const ConstStridedView& in, const StridedView& out)
      : MatrixProduct(product_loops<float>(), {1, weight.sizes[0], weight.sizes[1], in.sizes[0]}),
        weight_(matrices_of(weight)),
        scales_(matrices_of(scales)),
        group_size_(group_size),
        out_(matrices_of(out).transpose()) {
    b_ = matrices_of(in).transpose();
    if (is_in_place(out_)) {
      sums_ = out_;
    }
  }

 private:
  void load_a(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
              int64_t stride) const override {
    for (int64_t i = 0; i < rows; ++i) {
      float* const values = reinterpret_cast<float*>(target + i * stride);
      for (int64_t j = 0; j < columns;) {
        const int64_t group = (column + j) / group_size_;
        const int64_t part = std::min({kBlockSize, columns - j, (group + 1) * group_size_ - (column + j)});
        float scale;
        convert_elements(scales_.dtype, scales_.at(batch, row + i, group), ScalarType::Float, &scale, 1);
        load_block(weight_.dtype, weight_.at(batch, row + i, column + j), weight_.column_stride, ScalarType::Float,
                   values + j, part);
        vectorized_for(part, [scale, group_values = values + j](int64_t k) { group_values[k] *= scale; });
        j += part;
      }
    }
  }

  void store(int64_t batch, int64_t row, int64_t column, int64_t n, char* totals) const override {
    if (sums_.data == nullptr) {
      store_row(out_, batch, row, column, n, totals);
    }
  }

  ConstMatrices weight_;
  ConstMatrices scales_;
  int64_t group_size_;
  Matrices out_;
};

}  // namespace

Tensor& quantized_mixed_linear_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                                   const Tensor& scales, const std::optional<Tensor>& zero_points,
                                   std::optional<ScalarType> dtype, Tensor& out) {
  // Check: ExecuTorch's kernel does not support zero points, either.
  const ScalarType out_type = dtype.value_or(out.scalar_type());
  ET_KERNEL_CHECK(ctx, compute_type(in.scalar_type()) == ScalarType::Float, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, scales), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, isFloatingType(out_type) && out.scalar_type() == out_type, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, weight.scalar_type() == ScalarType::Char, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensor_is_rank(in, 2) && tensor_is_rank(weight, 2), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_size_at_dims(in, 1, weight, 1), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, scales.dim() == 1 || scales.dim() == 2, InvalidArgument, out);
  const int64_t groups = scales.dim() == 2 ? scales.sizes()[1] : 1;
  ET_KERNEL_CHECK(ctx, scales.sizes()[0] == weight.sizes()[0] && groups > 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, !zero_points.has_value(), InvalidArgument, out);

  // Resize
  const Tensor::SizesType sizes[] = {in.sizes()[0], weight.sizes()[0]};
  ET_KERNEL_CHECK(ctx, resize_to(out, sizes), InvalidArgument, out);

  // Compute
  const ConstStridedView scale_view(scales);
  const int64_t group_size = std::max<int64_t>(1, (weight.sizes()[1] + groups - 1) / groups);
  ProductScratch scratch(ctx);
  MixedLinearProduct(ConstStridedView(weight), scales.dim() == 1 ? scale_view.unsqueeze(1) : scale_view, group_size,
                     ConstStridedView(in), StridedView(out))
      .compute(scratch);
  return out;
}

}  // namespace torch::executor::native
