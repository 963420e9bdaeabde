#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/dynamic_product.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/reduce/min_max.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {

/// Quantizes rows as torchao's choose_qparams_affine() and quantize_affine() do. The results are Chars, plus 128 if
/// products are of unsigned bytes: the bytes that simd::add_products() reads.
struct RowQuantization {
  bool is_symmetric;
  float eps;

  /// Quantizes a row of `n` elements of dtype `type`. The computation is in float.
  RowParameters operator()(ScalarType type, const char* row, int64_t n, uint8_t* bytes) const {
    const auto size = static_cast<int64_t>(elementSize(type));
    const MinMax<float> extent = min_max<float>(type, row, size, n);
    const float low = std::min(extent.min, 0.0f);
    const float high = std::max(extent.max, 0.0f);
    const float range = is_symmetric ? std::max(-low, high) / 127.5f : (high - low) / 255.0f;
    const float scale = std::max(range, eps);
    const float zero_point = is_symmetric ? 128.0f : std::clamp(-math::rint(low / scale), 0.0f, 255.0f);
    const float inverse = 1.0f / scale;
    const RowParameters parameters = {scale, zero_point - simd::kFlippedBits};
    if (type == ScalarType::Float) {
      quantize(reinterpret_cast<const float*>(row), n, inverse, zero_point, bytes);
      return parameters;
    }
    float block[kBlockSize];
    for (int64_t i = 0; i < n; i += kBlockSize) {
      const int64_t count = std::min(kBlockSize, n - i);
      load_block(type, row + i * size, size, ScalarType::Float, block, count);
      quantize(block, count, inverse, zero_point, bytes + i);
    }
    return parameters;
  }

 private:
  static void quantize(const float* row, int64_t n, float inverse, float zero_point, uint8_t* bytes) {
    vectorized_for(n, [=](int64_t i) {
      const float value = math::rint(row[i] * inverse) + zero_point;
      const float clamped = math::clamp_number(value, 0.0f, 255.0f);
      bytes[i] = static_cast<uint8_t>(static_cast<int32_t>(clamped)) ^ simd::kFlippedBits;
    });
  }
};

}  // namespace rules_executorch::kernels
