#include <algorithm>
#include <cstring>

#include "kernels/gemm/matmul.h"
#include "kernels/math/vectorize.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// `totals = beta * addend + alpha * totals` for `n` elements. `factors` has beta and alpha. If beta is 0, the addend
/// is ignored, even if it is infinite or NaN.
using AddScaled = void (*)(void* totals, const void* addend, const void* factors, int64_t n);

template <typename T>
void add_scaled(void* totals, const void* addend, const void* factors, int64_t n) {
  T* total = static_cast<T*>(totals);
  const T* x = static_cast<const T*>(addend);
  const T beta = static_cast<const T*>(factors)[0];
  const T alpha = static_cast<const T*>(factors)[1];
  if (beta == 0) {
    vectorized_for(n, [=](int64_t i) { total[i] = alpha * total[i]; });
  } else {
    vectorized_for(n, [=](int64_t i) { total[i] = beta * x[i] + alpha * total[i]; });
  }
}

/// A scaled product plus an addend of the same shape.
class AddedProduct final : public ViewProduct {
 public:
  AddedProduct(const ProductLoops& loops, AddScaled add_scaled, const void* factors, const ConstStridedView& addend,
               const ConstStridedView& a, const ConstStridedView& b, const StridedView& out)
      : ViewProduct(loops, a, b, out),
        addend_(is_transposed() ? matrices_of(addend).transpose() : matrices_of(addend)),
        add_scaled_(add_scaled),
        factors_(factors) {
    if (addend.data == out.data) {
      sums_ = {};  // accumulation in the result would overwrite the addend
    }
  }

 private:
  void store(int64_t batch, int64_t row, int64_t column, int64_t n, char* totals) const override {
    for (int64_t j = 0; j < n; j += kBlockSize) {
      const int64_t part = std::min(kBlockSize, n - j);
      Block addend;
      load_block(addend_.dtype, addend_.at(batch, row, column + j), addend_.column_stride, type(), addend.data, part);
      add_scaled_(totals + j * element_size(), addend.data, factors_, part);
    }
    ViewProduct::store(batch, row, column, n, totals);
  }

  ConstMatrices addend_;
  AddScaled add_scaled_;
  const void* factors_;
};

}  // namespace

Tensor& addmm_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& a, const Tensor& b, const Scalar& beta,
                  const Scalar& alpha, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "addmm.out");

  // Check
  ET_KERNEL_CHECK(ctx, ::executorch::runtime::isRealHBF16Type(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, a, b), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensor_is_rank(a, 2) && tensor_is_rank(b, 2), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_size_at_dims(a, 1, b, 0), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, scalar_fits(beta, compute_type(in.scalar_type())), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, scalar_fits(alpha, compute_type(in.scalar_type())), InvalidArgument, out);

  // Resize
  const Tensor::SizesType sizes[] = {a.sizes()[0], b.sizes()[1]};
  ET_KERNEL_CHECK(ctx, resize_to(out, sizes), InvalidArgument, out);

  const ConstStridedView in_view(in);
  const StridedView out_view(out);
  ET_KERNEL_CHECK(ctx, broadcasts_to(in_view, out_view), InvalidArgument, out);

  // Compute
  const ProductLoops* loops = nullptr;
  AddScaled add = nullptr;
  alignas(int64_t) char factors[2 * sizeof(int64_t)];
  ET_SWITCH_REAL_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    using T = ProductType<CTYPE>;
    loops = &product_loops<T>();
    add = &add_scaled<T>;
    // Empty sums are 0, even if alpha is infinite or NaN.
    const T values[] = {scalar_cast<T>(beta), a.size(1) == 0 ? T(1) : scalar_cast<T>(alpha)};
    std::memcpy(factors, values, sizeof(values));
  });
  if (loops != nullptr) {  // the switch supports the dtype
    ProductScratch scratch(ctx);
    AddedProduct(*loops, add, factors, in_view.broadcast_to(out_view), ConstStridedView(a), ConstStridedView(b),
                 out_view)
        .compute(scratch);
  }
  return out;
}

}  // namespace torch::executor::native
