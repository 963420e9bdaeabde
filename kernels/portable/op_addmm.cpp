#include "kernels/common/convert.h"
#include "kernels/common/matmul.h"
#include "kernels/common/resize.h"
#include "kernels/common/scalar.h"
#include "kernels/common/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// `totals = beta * addend + alpha * totals` for `n` elements; `factors` holds beta and alpha. A beta of 0 leaves out
/// the addend, even if that is infinite or NaN.
using AddScaled = void (*)(void* totals, const void* addend, const void* factors, int64_t n);

template <typename T>
void add_scaled(void* totals, const void* addend, const void* factors, int64_t n) {
  T* total = static_cast<T*>(totals);
  const T* x = static_cast<const T*>(addend);
  const T beta = static_cast<const T*>(factors)[0];
  const T alpha = static_cast<const T*>(factors)[1];
  for (int64_t i = 0; i < n; ++i) {
    total[i] = beta == 0 ? alpha * total[i] : beta * x[i] + alpha * total[i];
  }
}

/// A product that is scaled and added to an addend of the same shape.
class AddedProduct final : public ViewProduct {
 public:
  AddedProduct(ScalarType type, const ConstStridedView& addend, const ConstStridedView& a, const ConstStridedView& b,
               const StridedView& out)
      : ViewProduct(type, a, b, out), addend_(addend) {}

  void compute(MultiplyAdd multiply_add, AddScaled add_scaled, const void* factors) {
    add_scaled_ = add_scaled;
    factors_ = factors;
    ViewProduct::compute(multiply_add);
  }

 private:
  void store(int64_t row, int64_t column, int64_t n, void* totals) const override {
    const int64_t size = addend_.element_size();
    Block addend;
    load_block(addend_.dtype, addend_.data + (row * addend_.strides[0] + column * addend_.strides[1]) * size,
               addend_.strides[1] * size, type(), addend.data, n);
    add_scaled_(totals, addend.data, factors_, n);
    ViewProduct::store(row, column, n, totals);
  }

  ConstStridedView addend_;
  AddScaled add_scaled_ = nullptr;
  const void* factors_ = nullptr;
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

  // Resize
  const Tensor::SizesType sizes[] = {a.sizes()[0], b.sizes()[1]};
  ET_KERNEL_CHECK(ctx, resize_to(out, sizes), InvalidArgument, out);

  const ConstStridedView in_view(in);
  const StridedView out_view(out);
  ET_KERNEL_CHECK(ctx, broadcasts_to(in_view, out_view), InvalidArgument, out);

  // Compute
  const ScalarType type = compute_type(in.scalar_type());
  AddedProduct product(type, in_view.broadcast_to(out_view), ConstStridedView(a), ConstStridedView(b), out_view);
  ET_SWITCH_REAL_TYPES(type, ctx, op_name, CTYPE, [&] {
    const CTYPE factors[] = {scalar_cast<CTYPE>(beta), scalar_cast<CTYPE>(alpha)};
    product.compute(&multiply_add<CTYPE>, &add_scaled<CTYPE>, factors);
  });
  return out;
}

}  // namespace torch::executor::native
