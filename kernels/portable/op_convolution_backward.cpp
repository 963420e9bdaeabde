#include <optional>
#include <tuple>

#include "kernels/convolution/convolution.h"
#include "kernels/gemm/matmul.h"
#include "kernels/reduce/mean.h"
#include "kernels/reduce/reduction.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `tensor` has the sizes of the result of `convolution`.
bool is_result(const Tensor& tensor, const Convolution& convolution) {
  ET_LOG_AND_RETURN_IF_FALSE(tensor.dim() == convolution.rank);
  for (int64_t d = 0; d < convolution.rank; ++d) {
    ET_CHECK_OR_RETURN_FALSE(tensor.sizes()[d] == convolution.out_size(d),
                             "the size of the gradient differs from the size of the convolution's result");
  }
  return true;
}

/// Computes the gradient of the input of `convolution`.
template <typename T>
void compute_input_gradient(const Convolution& convolution, const Tensor& grad_out, const Tensor& weight,
                            ProductScratch& scratch, Tensor& grad_in) {
  const ConstStridedView source(grad_out);
  const ConstStridedView weights(weight);
  const StridedView target(grad_in);
  Convolution backward = convolution.backward();
  backward.set_strides(source, weights, target);
  backward.in = source.data;
  backward.weight = weights.data;
  backward.out = target.data;
  convolve<T>(backward, scratch);
}

/// Computes the gradient of the weights of `convolution`. For a transposed convolution, input and result are exchanged.
template <typename T>
void store_weight_gradient(const Convolution& convolution, const Tensor& grad_out, const Tensor& in,
                           ProductScratch& scratch, Tensor& grad_weight) {
  const ConstStridedView source(convolution.transposed ? grad_out : in);
  const ConstStridedView result(convolution.transposed ? in : grad_out);
  const StridedView target(grad_weight);
  Convolution ordinary = convolution.transposed ? convolution.backward() : convolution;
  ordinary.set_strides(source, target, result);
  ordinary.in = source.data;
  rules_executorch::kernels::compute_weight_gradient<T>(ordinary, result.data, target.data, scratch);
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> convolution_backward_out(
    KernelRuntimeContext& ctx, const Tensor& grad_out, const Tensor& in, const Tensor& weight,
    std::optional<ArrayRef<int64_t>> /*bias_sizes*/, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
    ArrayRef<int64_t> dilation, bool transposed, ArrayRef<int64_t> output_padding, int64_t groups,
    ArrayRef<bool> output_mask, Tensor& grad_in, Tensor& grad_weight, Tensor& grad_bias) {
  ET_DEFINE_OPERATOR_NAME(op_name, "convolution_backward.out");
  std::tuple<Tensor&, Tensor&, Tensor&> results(grad_in, grad_weight, grad_bias);

  // Check
  Convolution convolution;
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(grad_out, in, weight), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, convolution.init(in, weight, {stride, padding, dilation, output_padding, transposed, groups}),
                  InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, is_result(grad_out, convolution), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, output_mask.size() == 3, InvalidArgument, results);
  Tensor* const wanted[] = {output_mask[0] ? &grad_in : nullptr, output_mask[1] ? &grad_weight : nullptr,
                            output_mask[2] ? &grad_bias : nullptr};
  for (const Tensor* gradient : wanted) {
    ET_KERNEL_CHECK(ctx, gradient == nullptr || tensors_have_same_dtype(*gradient, in), InvalidArgument, results);
  }

  // Resize: only the wanted gradients.
  const Tensor::SizesType channels = static_cast<Tensor::SizesType>(convolution.out_size(1));
  ET_KERNEL_CHECK(ctx, wanted[0] == nullptr || resize_like(grad_in, in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, wanted[1] == nullptr || resize_like(grad_weight, weight), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, wanted[2] == nullptr || resize_to(grad_bias, {&channels, 1}), InvalidArgument, results);

  // Compute
  ProductScratch scratch(ctx);
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    if (wanted[0] != nullptr) {
      compute_input_gradient<CTYPE>(convolution, grad_out, weight, scratch, grad_in);
    }
    if (wanted[1] != nullptr) {
      store_weight_gradient<CTYPE>(convolution, grad_out, in, scratch, grad_weight);
    }
    if (wanted[2] != nullptr) {
      DimSet all_but_channels;
      for (int64_t d = 0; d < in.dim(); d += d == 0 ? 2 : 1) {
        all_but_channels.insert(d);
      }
      // A mean with divisor 1 is the sum.
      reduce(Mean<CTYPE>{1}, grad_out, all_but_channels, grad_bias);
    }
  });
  return results;
}

}  // namespace torch::executor::native
