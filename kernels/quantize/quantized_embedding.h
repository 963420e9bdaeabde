#pragma once

#include <cstdint>
#include <optional>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// How the weights of an embedding lie in a byte.
enum class PackedWeights {
  kBytes,
  kNibbles,  // of 4 bits, the first of two in the upper half; 8 stands for 0
  kPairs,    // of 2 bits, the first of four in the lowest; 2 stands for 0
};

/// The rows of `weight` at `indices`, dequantized: `(q - zero_point) * scale` with a row's parameters. A row has one
/// scale, or one for each of several groups of as many elements.
Tensor& quantized_embedding_out(KernelRuntimeContext& ctx, PackedWeights packing, const Tensor& weight,
                                const Tensor& scales, const std::optional<Tensor>& zero_points, const Tensor& indices,
                                ScalarType dtype, Tensor& out);

}  // namespace rules_executorch::kernels
