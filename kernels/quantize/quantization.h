#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "kernels/elementwise/elementwise.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Affine quantization: the integer `q` represents the value `(q - zero_point) * scale`.

/// Whether tensors of `type` can have quantized values.
bool is_quantized_type(ScalarType type);

/// Reads the single element of `scale`, a floating-point number, and of `zero_point`, an integer. Returns false if a
/// tensor has another dtype or another number of elements.
bool read_parameters(const Tensor& scale, const Tensor& zero_point, double& scale_value, int64_t& zero_point_value);

/// The range from `quant_min` to `quant_max`, as values of type `T`.
template <typename T>
class QuantizedRange {
 public:
  QuantizedRange(int64_t quant_min, int64_t quant_max) : min_(inner(quant_min)), max_(inner(quant_max)) {}

  /// Clamps `value` to the range. NaN becomes the smallest value of the range.
  KERNELS_ALWAYS_INLINE T clamp(T value) const { return math::clamp_number(value, min_, max_); }

 private:
  /// `limit`, or the next value towards 0 if `T` cannot represent `limit`, such as 2^31 - 1 as a float.
  static T inner(int64_t limit) {
    const T value = static_cast<T>(limit);
    return std::abs(static_cast<double>(value)) > std::abs(static_cast<double>(limit)) ? std::nextafter(value, T(0))
                                                                                       : value;
  }

  T min_;
  T max_;
};

/// Writes `n` integers as elements of dtype `type`. All integers must be in the range of `type`.
void store_integers(const int32_t* integers, ScalarType type, void* target, int64_t n);

namespace internal {

/// A function of `Arguments` whose results are integers in the range of dtype `type`. One loop serves all these dtypes.
template <typename Function, typename... Arguments>
struct IntegerFunction {
  const Function& function;
  ScalarType type;

  static void call(const void* self, void* out, const void* const* inputs, int64_t n) {
    static_cast<const IntegerFunction*>(self)->call(out, inputs, n, std::index_sequence_for<Arguments...>());
  }

  template <size_t... I>
  void call(void* out, const void* const* inputs, int64_t n, std::index_sequence<I...>) const {
    for (int64_t start = 0; start < n; start += kBlockSize) {
      const int64_t part = std::min(kBlockSize, n - start);
      int32_t integers[kBlockSize];
      apply(part, integers, static_cast<const Arguments*>(inputs[I]) + start...);
      store_integers(integers, type, static_cast<char*>(out) + start * static_cast<int64_t>(elementSize(type)), part);
    }
  }

  void apply(int64_t n, int32_t* integers, const Arguments*... inputs) const {
    vectorized_for(n, [=, function = function](int64_t i)
                          KERNELS_ALWAYS_INLINE { integers[i] = static_cast<int32_t>(function(inputs[i]...)); });
  }
};

template <typename T, typename>
using Repeated = T;

}  // namespace internal

/// `elementwise` for a function of values of type `T` whose results are integers in the range of out's dtype.
template <typename T, typename Function, typename... Inputs>
void elementwise_integers(const Function& function, Tensor& out, const Inputs&... inputs) {
  using Integers = internal::IntegerFunction<Function, internal::Repeated<T, Inputs>...>;
  const StridedView out_view(out);
  const ConstStridedView input_views[] = {ConstStridedView(inputs).broadcast_to(out_view)...};
  const ScalarType argument_types[] = {CppTypeToScalarType<internal::Repeated<T, Inputs>>::value...};
  const Integers integers{function, out_view.dtype};
  apply_elementwise({&Integers::call, &integers, out_view.dtype, argument_types, sizeof...(Inputs)}, out_view,
                    input_views);
}

/// The scale and the zero point of each element, as views broadcast to the shape of a tensor.
struct QuantizationParameters {
  /// Parameters for each index of dimension `axis`. Returns false if `scales` or `zero_points` have another number of
  /// elements, an unsupported dtype, or are not contiguous.
  bool init_per_channel(const Tensor& tensor, int64_t axis, const Tensor& scales,
                        const std::optional<Tensor>& zero_points);

  /// Parameters for each token. A token is the elements along the last dimension. Returns false as init_per_channel().
  bool init_per_token(const Tensor& tensor, const Tensor& scales, const std::optional<Tensor>& zero_points);

  ConstStridedView scale;
  ConstStridedView zero_point;
};

/// Whether quantization rounds before or after the addition of the zero point. PyTorch rounds before it for channels,
/// and after it for tokens.
enum class RoundingOrder { kBeforeZeroPoint, kAfterZeroPoint };

/// Whether `in` can be quantized to `out`, integers `quant_min` to `quant_max` of dtype `dtype`.
bool can_quantize(const Tensor& in, int64_t quant_min, int64_t quant_max, ScalarType dtype, const Tensor& out);

/// Quantizes `in` to `out`, which has the same shape. The computation is in Double if `in` or the scales are Double,
/// otherwise in Float.
void quantize(const Tensor& in, const QuantizationParameters& parameters, RoundingOrder order, int64_t quant_min,
              int64_t quant_max, Tensor& out);

/// Whether `in`, of dtype `dtype`, can be dequantized to `out`, of dtype `out_dtype` if given.
bool can_dequantize(const Tensor& in, ScalarType dtype, const std::optional<ScalarType>& out_dtype, const Tensor& out);

/// Dequantizes `in` to `out`, which has the same shape. The computation is in Double if the scales are Double,
/// otherwise in Float.
void dequantize(const Tensor& in, const QuantizationParameters& parameters, Tensor& out);

}  // namespace rules_executorch::kernels
