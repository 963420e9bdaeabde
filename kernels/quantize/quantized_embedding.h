#pragma once

#include <cstdint>
#include <optional>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The packing of an embedding's weights in bytes.
enum class PackedWeights {
  kBytes,
  kNibbles,  // 4 bits, the first of two in the upper half, with an offset of 8
  kPairs,    // 2 bits, the first of four in the lowest bits, with an offset of 2
};

/// Writes the rows of `weight` at `indices`, dequantized as `(q - zero_point) * scale` with the parameters of the row.
/// A row has one scale, or one scale for each of several groups of equal size.
Tensor& quantized_embedding_out(KernelRuntimeContext& ctx, PackedWeights packing, const Tensor& weight,
                                const Tensor& scales, const std::optional<Tensor>& zero_points, const Tensor& indices,
                                ScalarType dtype, Tensor& out);

}  // namespace rules_executorch::kernels
