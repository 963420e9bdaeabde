#include "kernels/quantize/quantized_embedding.h"

#include <algorithm>

#include "kernels/copy/dim_index.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {
namespace {

int64_t weights_per_byte(PackedWeights packing) {
  return packing == PackedWeights::kBytes ? 1 : packing == PackedWeights::kNibbles ? 2 : 4;
}

/// Whether there are parameters for each row of `weight`, with groups of equal size.
bool parameters_are_valid(const Tensor& weight, int64_t width, const Tensor& scales,
                          const std::optional<Tensor>& zero_points) {
  ET_CHECK_OR_RETURN_FALSE(scales.dim() == 1 || scales.dim() == 2, "scales have %d dimensions, expected 1 or 2",
                           int(scales.dim()));
  ET_CHECK_OR_RETURN_FALSE(compute_type(scales.scalar_type()) == ScalarType::Float,
                           "expected scales of dtype Float, Half or BFloat16");
  ET_CHECK_OR_RETURN_FALSE(scales.sizes()[0] == weight.sizes()[0], "scales have %d rows, the weight has %d",
                           int(scales.sizes()[0]), int(weight.sizes()[0]));
  const int64_t groups = scales.dim() == 2 ? scales.sizes()[1] : 1;
  ET_CHECK_OR_RETURN_FALSE(groups > 0 && width % groups == 0, "%d groups do not divide %d elements", int(groups),
                           int(width));
  return !zero_points.has_value() ||
         (tensors_have_same_shape(*zero_points, scales) && tensors_have_same_dtype(*zero_points, scales));
}

/// Reads `n` weights of a row, from `start` on.
void load_weights(const ConstStridedView& weight, PackedWeights packing, const char* row, int64_t start, int64_t n,
                  float* values) {
  const int64_t stride = weight.strides[1];
  if (packing == PackedWeights::kBytes) {
    load_block(weight.dtype, row + start * stride, stride, ScalarType::Float, values, n);
    return;
  }
  const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(row);
  if (packing == PackedWeights::kNibbles) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t j = start + i;
      values[i] = static_cast<float>((bytes[j / 2 * stride] >> (j % 2 == 0 ? 4 : 0) & 15) - 8);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t j = start + i;
      values[i] = static_cast<float>((bytes[j / 4 * stride] >> (j % 4 * 2) & 3) - 2);
    }
  }
}

/// The parameter of one group.
float load_parameter(const ConstStridedView& parameters, int64_t row, int64_t group) {
  float value = 0;
  if (parameters.data != nullptr) {
    const int64_t index = row * parameters.strides[0] + group * parameters.strides[1];
    convert_elements(parameters.dtype, parameters.data + index * parameters.element_size(), ScalarType::Float, &value,
                     1);
  }
  return value;
}

/// A view of parameters with a dimension for groups.
ConstStridedView with_groups(const Tensor& parameters) {
  const ConstStridedView view(parameters);
  return view.rank == 1 ? view.unsqueeze(1) : view;
}

}  // namespace

Tensor& quantized_embedding_out(KernelRuntimeContext& ctx, PackedWeights packing, const Tensor& weight,
                                const Tensor& scales, const std::optional<Tensor>& zero_points, const Tensor& indices,
                                ScalarType dtype, Tensor& out) {
  // Check
  const ScalarType type = weight.scalar_type();
  const ConstStridedView positions(indices);
  ET_KERNEL_CHECK(ctx, type == ScalarType::Byte || (type == ScalarType::Char && packing == PackedWeights::kBytes),
                  InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, weight.dim() == 2, InvalidArgument, out);
  const int64_t width = weight.sizes()[1] * weights_per_byte(packing);
  ET_KERNEL_CHECK(ctx, parameters_are_valid(weight, width, scales, zero_points), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, isFloatingType(dtype) && out.scalar_type() == dtype, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, positions_exist(positions, weight.sizes()[0]), InvalidArgument, out);

  // Resize
  const int64_t rank = indices.dim();
  ET_KERNEL_CHECK(ctx, rank < static_cast<int64_t>(kTensorDimensionLimit), InvalidArgument, out);
  int64_t sizes[kTensorDimensionLimit];
  std::copy_n(indices.sizes().data(), rank, sizes);
  sizes[rank] = width;
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {sizes, static_cast<size_t>(rank + 1)}), InvalidArgument, out);

  // Compute
  const ConstStridedView weights(weight);
  const ConstStridedView scale_view = with_groups(scales);
  const ConstStridedView zero_point_view = zero_points.has_value() ? with_groups(*zero_points) : ConstStridedView();
  const int64_t group_size = width / scale_view.sizes[1];
  const StridedView results(out);
  const int64_t stride = results.strides[rank] * results.element_size();
  const LoopNest nest = LoopNest::over(results.select(rank, 0), positions);
  nest.parallel_for_each_row(
      std::max<int64_t>(1, kGrain / std::max<int64_t>(width, 1)), [&](const int64_t* offsets, int64_t n) {
        alignas(16) float values[kBlockSize];
        for (int64_t i = 0; i < n; ++i) {
          int64_t index = 0;
          convert_elements(positions.dtype, positions.data + offsets[1] + i * nest.row_stride(1), ScalarType::Long,
                           &index, 1);
          const char* const row = weights.data + index * weights.strides[0];
          char* const target = results.data + offsets[0] + i * nest.row_stride(0);
          for (int64_t start = 0; start < width; start += kBlockSize) {
            const int64_t part = std::min(kBlockSize, width - start);
            load_weights(weights, packing, row, start, part, values);
            for (int64_t j = 0; j < part;) {
              const int64_t group = (start + j) / group_size;
              const int64_t end = std::min(part, (group + 1) * group_size - start);
              const float scale = load_parameter(scale_view, index, group);
              const float zero_point = load_parameter(zero_point_view, index, group);
              vectorized_for(end - j, [=, data = values + j](int64_t k) { data[k] = (data[k] - zero_point) * scale; });
              j = end;
            }
            store_block(ScalarType::Float, values, results.dtype, target + start * stride, stride, part);
          }
        }
      });
  return out;
}

}  // namespace rules_executorch::kernels
