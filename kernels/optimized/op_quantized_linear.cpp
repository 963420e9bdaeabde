#include <algorithm>

#include "kernels/gemm/integer_product.h"
#include "kernels/math/divide_up.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The number of rows of a block. The rows stay in a cache while a thread multiplies them by all panels of weights.
constexpr int64_t kRowBlock = 64;

/// Whether `weight` is packed for `k` input and `columns` output features.
bool check_char_panels(const Tensor& weight, int64_t k, int64_t columns) {
  const int64_t panels = divide_up(columns, kPanelColumns);
  const int64_t groups = divide_up(k, kPanelDepth);
  ET_CHECK_OR_RETURN_FALSE(weight.scalar_type() == ScalarType::Char && weight.dim() == 4 && weight.size(0) == panels &&
                               weight.size(1) == groups && weight.size(2) == kPanelColumns &&
                               weight.size(3) == kPanelDepth,
                           "weights of %d features and %d scales are not packed as Char of (%d, %d, %d, %d): export "
                           "the program with the version of the rules that its kernels come from",
                           static_cast<int>(k), static_cast<int>(columns), static_cast<int>(panels),
                           static_cast<int>(groups), static_cast<int>(kPanelColumns), static_cast<int>(kPanelDepth));
  return true;
}

}  // namespace

Tensor& quantized_linear_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight, const Tensor& scale,
                             const Tensor& offset, const std::optional<Tensor>& table, int64_t quant_min,
                             int64_t quant_max, ScalarType dtype, Tensor& out) {
  // Check
  SumConversion conversion;
  ET_KERNEL_CHECK(ctx, in.scalar_type() == ScalarType::Byte || in.scalar_type() == ScalarType::Char, InvalidArgument,
                  out);
  ET_KERNEL_CHECK(ctx, dtype == out.scalar_type(), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() >= 1, InvalidArgument, out);
  const int64_t k = in.sizes()[in.dim() - 1];
  const int64_t columns = scale.numel();
  ET_KERNEL_CHECK(ctx, check_char_panels(weight, k, columns), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, conversion.init(scale, offset, table, columns, quant_min, quant_max, dtype), InvalidArgument,
                  out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like_with_last(out, in, columns), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, quantized_linear_dim_orders_fit(in, weight, scale, offset, table, out), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Compute: each part has several panels and several rows.
  const int64_t rows = out.numel() / columns;
  const int64_t row_blocks = divide_up(rows, kRowBlock);
  const int64_t panel_blocks = divide_up(weight.size(0), kPanels);
  const int64_t work = std::min(rows, kRowBlock) * kBlockColumns * std::max<int64_t>(k, 1) / 64;
  const auto* const in_data = static_cast<const char*>(in.const_data_ptr());
  const auto* const panel_data = static_cast<const char*>(weight.const_data_ptr());
  auto* const out_data = static_cast<char*>(out.mutable_data_ptr());
  const int64_t panel_stride = weight.size(1) * kPanelColumns * kPanelDepth;
  const int64_t out_row_stride = columns * out.element_size();
  parallel_for(0, row_blocks * panel_blocks, grain_of(work, kPanels * panel_stride), [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t row = part / panel_blocks * kRowBlock;
      const int64_t panel = part % panel_blocks * kPanels;
      const int64_t column = panel * kPanelColumns;
      const IntegerProduct product = {in_data + row * k,
                                      k,
                                      std::min(kRowBlock, rows - row),
                                      bits_to_byte(in.scalar_type()),
                                      panel_data + panel * panel_stride,
                                      panel_stride,
                                      std::min(kBlockColumns, columns - column),
                                      k,
                                      conversion,
                                      out_data + row * out_row_stride + column * out.element_size(),
                                      out_row_stride};
      multiply_by_weights(product, column);
    }
  });
  return out;
}

}  // namespace torch::executor::native
