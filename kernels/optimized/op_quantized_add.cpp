#include <cstring>

#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/quantize/quantization.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/memory_format.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The sum of two bytes.
struct ScaledSum {
  float a_scale;
  float b_scale;
  float offset;
  simd::ByteRange range;
};

template <typename A, typename B>
void add(const ScaledSum& sum, const void* a, const void* b, int64_t begin, int64_t end, void* out) {
  const A* const a_bytes = static_cast<const A*>(a) + begin;
  const B* const b_bytes = static_cast<const B*>(b) + begin;
  uint8_t* const bytes = static_cast<uint8_t*>(out) + begin;
  const auto add_at = [=, sum = sum](int64_t i) KERNELS_ALWAYS_INLINE {
    const float x = static_cast<float>(a_bytes[i]) * sum.a_scale;
    const float y = x + static_cast<float>(b_bytes[i]) * sum.b_scale + sum.offset;
    const float result = math::clamp_number(y, sum.range.min, sum.range.max) + simd::kRoundingShift;
    uint32_t bits;
    std::memcpy(&bits, &result, sizeof(bits));
    bytes[i] = static_cast<uint8_t>(bits);
  };
  int64_t i = 0;
  for (; i + simd::kByteLanes <= end - begin; i += simd::kByteLanes) {
    KERNELS_INDEPENDENT_ITERATIONS
    for (int64_t j = i; j < i + simd::kByteLanes; ++j) {
      add_at(j);
    }
  }
  vectorized_for(end - begin - i, [=](int64_t j) KERNELS_ALWAYS_INLINE { add_at(i + j); });
}

/// Adds tensors whose elements have the same order in memory.
void add_in_order(const ScaledSum& sum, const Tensor& a, const Tensor& b, Tensor& out) {
  const bool a_is_char = a.scalar_type() == ScalarType::Char;
  const bool b_is_char = b.scalar_type() == ScalarType::Char;
  const auto function = a_is_char ? (b_is_char ? add<int8_t, int8_t> : add<int8_t, uint8_t>)
                                  : (b_is_char ? add<uint8_t, int8_t> : add<uint8_t, uint8_t>);
  const void* const a_data = a.const_data_ptr();
  const void* const b_data = b.const_data_ptr();
  void* const out_data = out.mutable_data_ptr();
  parallel_for(0, out.numel(), kGrain,
               [&](int64_t begin, int64_t end) { function(sum, a_data, b_data, begin, end, out_data); });
}

}  // namespace

Tensor& add_bytes_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, double a_scale, double b_scale,
                      double offset, int64_t quant_min, int64_t quant_max, ScalarType dtype, Tensor& out) {
  // Check
  for (const Tensor* const tensor : {&a, &b, static_cast<const Tensor*>(&out)}) {
    ET_KERNEL_CHECK(ctx, tensor->scalar_type() == ScalarType::Byte || tensor->scalar_type() == ScalarType::Char,
                    InvalidArgument, out);
  }
  ET_KERNEL_CHECK(ctx, dtype == out.scalar_type(), InvalidArgument, out);
  const int64_t least = dtype == ScalarType::Char ? -128 : 0;
  ET_KERNEL_CHECK(ctx, quant_min >= least && quant_min <= quant_max && quant_max <= least + 255, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);

  // Compute
  if (have_same_dim_order(a, out) && have_same_dim_order(b, out)) {
    add_in_order({static_cast<float>(a_scale),
                  static_cast<float>(b_scale),
                  static_cast<float>(offset),
                  {static_cast<float>(quant_min), static_cast<float>(quant_max)}},
                 a, b, out);
    return out;
  }
  const QuantizedRange<float> range(quant_min, quant_max);
  elementwise_integers<float>(
      [=, a_scale = static_cast<float>(a_scale), b_scale = static_cast<float>(b_scale),
       offset = static_cast<float>(offset)](float x, float y) {
        return math::rint(range.clamp(x * a_scale + y * b_scale + offset));
      },
      out, a, b);
  return out;
}

}  // namespace torch::executor::native
