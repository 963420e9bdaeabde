#include "kernels/quantize/quantization.h"

#include <algorithm>

#include "kernels/math/vector_math.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {
namespace {

constexpr int64_t kNoZeroPoint = 0;

/// Whether all integers from `quant_min` to `quant_max` are values of dtype `type`.
bool range_is_valid(int64_t quant_min, int64_t quant_max, ScalarType type) {
  const int64_t bits = 8 * static_cast<int64_t>(elementSize(type));
  const bool is_signed = type != ScalarType::Byte && type != ScalarType::UInt16 && type != ScalarType::Bits16;
  const int64_t least = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t largest = least + (int64_t{1} << bits) - 1;
  ET_CHECK_OR_RETURN_FALSE(quant_min >= least && quant_min <= largest && quant_max >= least && quant_max <= largest,
                           "quant_min %lld and quant_max %lld are not both from %lld to %lld",
                           static_cast<long long>(quant_min), static_cast<long long>(quant_max),
                           static_cast<long long>(least), static_cast<long long>(largest));
  return true;
}

/// Views the contiguous elements of `tensor` with the sizes and strides of `shape`. Returns false if the elements are
/// not contiguous or if their number differs.
bool make_view(const Tensor& tensor, const StridedShape& shape, ConstStridedView& view) {
  ET_CHECK_OR_RETURN_FALSE(is_contiguous_dim_order(tensor.dim_order().data(), tensor.dim()),
                           "expected contiguous scales and zero points");
  ET_CHECK_OR_RETURN_FALSE(tensor.numel() == shape.numel(),
                           "the number of scales or zero points is %lld, expected %lld, one for each channel or token",
                           static_cast<long long>(tensor.numel()), static_cast<long long>(shape.numel()));
  static_cast<StridedShape&>(view) = shape;
  view.dtype = tensor.scalar_type();
  view.data = static_cast<const char*>(tensor.const_data_ptr());
  int64_t stride = 1;
  for (int64_t d = shape.rank - 1; d >= 0; --d) {
    view.strides[d] = stride;
    stride *= shape.sizes[d];
  }
  return true;
}

bool make_views(const Tensor& scales, const std::optional<Tensor>& zero_points, const StridedShape& shape,
                QuantizationParameters& parameters) {
  ET_CHECK_OR_RETURN_FALSE(scales.scalar_type() == ScalarType::Float || scales.scalar_type() == ScalarType::Double,
                           "expected scales of dtype Float or Double");
  if (zero_points.has_value()) {
    ET_CHECK_OR_RETURN_FALSE(::executorch::runtime::isRealType(zero_points->scalar_type()),
                             "expected zero points of an integer or floating-point dtype");
    return make_view(scales, shape, parameters.scale) && make_view(*zero_points, shape, parameters.zero_point);
  }
  parameters.zero_point.dtype = ScalarType::Long;
  parameters.zero_point.data = reinterpret_cast<const char*>(&kNoZeroPoint);
  return make_view(scales, shape, parameters.scale);
}

template <typename T>
void narrow(const int32_t* integers, void* target, int64_t n) {
  T* const results = static_cast<T*>(target);
  vectorized_for(n, [=](int64_t i) { results[i] = static_cast<T>(integers[i]); });
}

template <typename T>
void quantize_as(const Tensor& in, const QuantizationParameters& parameters, RoundingOrder order, int64_t quant_min,
                 int64_t quant_max, Tensor& out) {
  const QuantizedRange<T> range(quant_min, quant_max);
  // The zero point is added before or after rounding. Two factors of 0 and 1 select the order, so that both orders
  // share one loop without branches.
  const T before = order == RoundingOrder::kAfterZeroPoint ? 1 : 0;
  const T after = 1 - before;
  elementwise_integers<T>(
      [=](T x, T scale, T zero_point) {
        return range.clamp(math::rint(x * (1 / scale) + before * zero_point) + after * zero_point);
      },
      out, in, parameters.scale, parameters.zero_point);
}

template <typename T>
void dequantize_as(const Tensor& in, const QuantizationParameters& parameters, Tensor& out) {
  elementwise([](T q, T scale, T zero_point) -> T { return (q - zero_point) * scale; }, out, in, parameters.scale,
              parameters.zero_point);
}

}  // namespace

bool is_quantized_type(ScalarType type) {
  return type == ScalarType::Byte || type == ScalarType::Char || type == ScalarType::Short ||
         type == ScalarType::UInt16 || type == ScalarType::Bits16 || type == ScalarType::Int;
}

bool read_parameters(const Tensor& scale, const Tensor& zero_point, double& scale_value, int64_t& zero_point_value) {
  ET_CHECK_OR_RETURN_FALSE(scale.numel() == 1 && zero_point.numel() == 1, "expected one scale and one zero point");
  ET_CHECK_OR_RETURN_FALSE(isFloatingType(scale.scalar_type()), "expected a scale of a floating-point dtype");
  ET_CHECK_OR_RETURN_FALSE(isIntegralType(zero_point.scalar_type(), /*includeBool=*/false),
                           "expected a zero point of an integer dtype");
  convert_elements(scale.scalar_type(), scale.const_data_ptr(), ScalarType::Double, &scale_value, 1);
  convert_elements(zero_point.scalar_type(), zero_point.const_data_ptr(), ScalarType::Long, &zero_point_value, 1);
  return true;
}

void store_integers(const int32_t* integers, ScalarType type, void* target, int64_t n) {
  // Signed and unsigned integers of the same size have the same bits.
  switch (elementSize(type)) {
    case 1:
      return narrow<uint8_t>(integers, target, n);
    case 2:
      return narrow<uint16_t>(integers, target, n);
    default:
      return convert_elements(ScalarType::Int, integers, type, target, n);
  }
}

bool QuantizationParameters::init_per_channel(const Tensor& tensor, int64_t axis, const Tensor& scales,
                                              const std::optional<Tensor>& zero_points) {
  StridedShape shape;
  shape.rank = tensor.dim() - axis;
  std::fill_n(shape.sizes, shape.rank, 1);
  shape.sizes[0] = scales.numel() == 1 ? 1 : tensor.sizes()[axis];
  return make_views(scales, zero_points, shape, *this);
}

bool QuantizationParameters::init_per_token(const Tensor& tensor, const Tensor& scales,
                                            const std::optional<Tensor>& zero_points) {
  StridedShape shape;
  shape.rank = tensor.dim();
  std::copy_n(tensor.sizes().data(), shape.rank, shape.sizes);
  if (shape.rank > 0) {
    shape.sizes[shape.rank - 1] = 1;
  }
  return make_views(scales, zero_points, shape, *this);
}

bool can_quantize(const Tensor& in, int64_t quant_min, int64_t quant_max, ScalarType dtype, const Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(isFloatingType(in.scalar_type()), "expected an input of a floating-point dtype");
  ET_CHECK_OR_RETURN_FALSE(is_quantized_type(dtype), "dtype %hhd is not supported for quantized values", int8_t(dtype));
  ET_CHECK_OR_RETURN_FALSE(out.scalar_type() == dtype, "expected an out tensor of dtype %hhd", int8_t(dtype));
  return range_is_valid(quant_min, quant_max, dtype);
}

void quantize(const Tensor& in, const QuantizationParameters& parameters, RoundingOrder order, int64_t quant_min,
              int64_t quant_max, Tensor& out) {
  const bool is_double = in.scalar_type() == ScalarType::Double || parameters.scale.dtype == ScalarType::Double;
  const auto quantize_in_type = is_double ? &quantize_as<double> : &quantize_as<float>;
  quantize_in_type(in, parameters, order, quant_min, quant_max, out);
}

bool can_dequantize(const Tensor& in, ScalarType dtype, const std::optional<ScalarType>& out_dtype, const Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(is_quantized_type(dtype), "dtype %hhd is not supported for quantized values", int8_t(dtype));
  ET_CHECK_OR_RETURN_FALSE(in.scalar_type() == dtype, "expected an input of dtype %hhd", int8_t(dtype));
  ET_CHECK_OR_RETURN_FALSE(isFloatingType(out.scalar_type()), "expected an out tensor of a floating-point dtype");
  ET_CHECK_OR_RETURN_FALSE(out.scalar_type() == out_dtype.value_or(out.scalar_type()),
                           "the out tensor's dtype differs from the requested one");
  return true;
}

void dequantize(const Tensor& in, const QuantizationParameters& parameters, Tensor& out) {
  // Float cannot represent all differences of Ints.
  const bool is_double = in.scalar_type() == ScalarType::Int || parameters.scale.dtype == ScalarType::Double;
  const auto dequantize_in_type = is_double ? &dequantize_as<double> : &dequantize_as<float>;
  dequantize_in_type(in, parameters, out);
}

}  // namespace rules_executorch::kernels
