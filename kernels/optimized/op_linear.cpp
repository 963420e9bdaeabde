#include <algorithm>

#include "kernels/gemm/matmul.h"
#include "kernels/math/vectorize.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// `totals += addend` for `n` elements.
using AddElements = void (*)(void* totals, const void* addend, int64_t n);

template <typename T>
void add_elements(void* totals, const void* addend, int64_t n) {
  T* total = static_cast<T*>(totals);
  const T* x = static_cast<const T*>(addend);
  vectorized_for(n, [=](int64_t i) { total[i] += x[i]; });
}

/// A product with a bias of the product's shape.
class BiasedProduct final : public ViewProduct {
 public:
  BiasedProduct(const ProductLoops& loops, AddElements add, const ConstStridedView& bias, const ConstStridedView& a,
                const ConstStridedView& b, const StridedView& out)
      : ViewProduct(loops, a, b, out),
        bias_(is_transposed() ? matrices_of(bias).transpose() : matrices_of(bias)),
        add_(add) {}

 private:
  void store(int64_t batch, int64_t row, int64_t column, int64_t n, char* totals) const override {
    for (int64_t j = 0; j < n; j += kBlockSize) {
      const int64_t part = std::min(kBlockSize, n - j);
      Block bias;
      load_block(bias_.dtype, bias_.at(batch, row, column + j), bias_.column_stride, type(), bias.data, part);
      add_(totals + j * element_size(), bias.data, part);
    }
    ViewProduct::store(batch, row, column, n, totals);
  }

  ConstMatrices bias_;
  AddElements add_;
};

/// Sets `rows` to the matrix with all rows of `view`. Returns false if the rows have no constant stride.
template <typename View>
bool merge_rows(const View& view, View& rows) {
  rows = view;
  rows.rank = 2;
  rows.sizes[0] = 1;
  rows.strides[0] = 0;
  rows.sizes[1] = view.sizes[view.rank - 1];
  rows.strides[1] = view.strides[view.rank - 1];
  for (int64_t d = view.rank - 2; d >= 0; --d) {
    if (view.sizes[d] == 1) {
      continue;
    }
    if (rows.sizes[0] == 1) {
      rows.strides[0] = view.strides[d];
    } else if (view.strides[d] != rows.sizes[0] * rows.strides[0]) {
      return false;
    }
    rows.sizes[0] *= view.sizes[d];
  }
  return true;
}

/// A linear layer: `out = in * weight + bias`. The columns of `weight` are contiguous.
class LinearLayer {
 public:
  LinearLayer(KernelRuntimeContext& ctx, const ProductLoops& loops, AddElements add, const ConstStridedView& weight)
      : scratch_(ctx), loops_(loops), add_(add), weight_(weight) {}

  /// Computes `out`. `out` has at least 2 dimensions. `bias` is null or has the shape of `out`.
  void compute(const ConstStridedView& in, const ConstStridedView* bias, const StridedView& out) {
    ConstStridedView in_rows;
    ConstStridedView bias_rows;
    StridedView out_rows;
    if (merge_rows(in, in_rows) && merge_rows(out, out_rows) && (bias == nullptr || merge_rows(*bias, bias_rows))) {
      if (bias == nullptr) {
        ViewProduct(loops_, in_rows, weight_, out_rows).compute(scratch_);
      } else {
        BiasedProduct(loops_, add_, bias_rows, in_rows, weight_, out_rows).compute(scratch_);
      }
      return;
    }
    for (int64_t i = 0; i < out.sizes[0]; ++i) {
      const ConstStridedView part = bias == nullptr ? ConstStridedView() : bias->select(0, i);
      compute(in.select(0, i), bias == nullptr ? nullptr : &part, out.select(0, i));
    }
  }

 private:
  ProductScratch scratch_;
  const ProductLoops& loops_;
  AddElements add_;
  ConstStridedView weight_;
};

}  // namespace

Tensor& linear_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight, const std::optional<Tensor>& bias,
                   Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "linear.out");

  // Check
  ET_KERNEL_CHECK(ctx, in.scalar_type() != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, weight, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, !bias.has_value() || tensors_have_same_dtype(*bias, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() >= 1 && (weight.dim() == 1 || weight.dim() == 2), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_size_at_dims(in, in.dim() - 1, weight, weight.dim() - 1), InvalidArgument,
                  out);

  // Resize. With a 1-dim weight, the result has no dimension of features.
  const bool has_features = weight.dim() == 2;
  const int64_t out_dim = in.dim() - (has_features ? 0 : 1);
  Tensor::SizesType sizes[kTensorDimensionLimit];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  if (has_features) {
    sizes[out_dim - 1] = weight.sizes()[0];
  }
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, static_cast<size_t>(out_dim)}), InvalidArgument, out);

  // A 1-dim input is one row. A 1-dim weight is the weight of one feature.
  ConstStridedView in_view(in);
  ConstStridedView weight_view(weight);
  StridedView out_view(out);
  ConstStridedView bias_view;
  if (bias.has_value()) {
    bias_view = ConstStridedView(*bias);
    ET_KERNEL_CHECK(ctx, bias->dim() <= out_dim && broadcasts_to(bias_view, out_view), InvalidArgument, out);
    bias_view = bias_view.broadcast_to(out_view);
  }
  if (!has_features) {
    weight_view = weight_view.unsqueeze(0);
    out_view = out_view.unsqueeze(out_dim);
    bias_view = bias.has_value() ? bias_view.unsqueeze(out_dim) : bias_view;
  }
  if (in.dim() == 1) {
    in_view = in_view.unsqueeze(0);
    out_view = out_view.unsqueeze(0);
    bias_view = bias.has_value() ? bias_view.unsqueeze(0) : bias_view;
  }

  // Compute
  const ProductLoops* loops = nullptr;
  AddElements add = nullptr;
  KERNELS_SWITCH_REALB_AND_COMPLEX_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    loops = &product_loops<ProductType<CTYPE>>();
    add = &add_elements<ProductType<CTYPE>>;
  });
  if (loops != nullptr) {  // the switch supports the dtype
    constexpr int64_t kTransposed[] = {1, 0};
    LinearLayer(ctx, *loops, add, weight_view.permute(kTransposed))
        .compute(in_view, bias.has_value() ? &bias_view : nullptr, out_view);
  }
  return out;
}

}  // namespace torch::executor::native
