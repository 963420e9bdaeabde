#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/common/binary.h"
#include "kernels/common/block.h"
#include "kernels/common/convert.h"
#include "kernels/common/elementwise.h"
#include "kernels/common/loop_nest.h"
#include "kernels/common/promotion.h"
#include "kernels/common/resize.h"
#include "kernels/common/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// A Scalar as a 0-dim tensor, so that one piece of code divides by either.
class ScalarTensor {
 public:
  explicit ScalarTensor(const Scalar& scalar)
      : real_(scalar_cast<double>(scalar)),
        integer_(scalar_cast<int64_t>(scalar)),
        impl_(scalar.isFloatingPoint() ? ScalarType::Double : ScalarType::Long, 0, nullptr,
              scalar.isFloatingPoint() ? static_cast<void*>(&real_) : &integer_) {}

  Tensor tensor() { return Tensor(&impl_); }

 private:
  double real_;
  int64_t integer_;
  TensorImpl impl_;
};

/// Whether one of the elements of `tensor` is 0 as an integer of dtype `type`.
bool contains_zero(const Tensor& tensor, ScalarType type) {
  const ConstStridedView view(tensor);
  const int64_t size = static_cast<int64_t>(elementSize(type));
  const LoopNest nest = LoopNest::over(view);
  const int64_t stride = nest.row_stride(0);
  bool found = false;
  nest.for_each_row(0, nest.numel(), [&](const int64_t* offsets, int64_t row_size) {
    Block values;
    for (int64_t start = 0; start < row_size && !found; start += kBlockSize) {
      const int64_t n = std::min(kBlockSize, row_size - start);
      load_block(view.dtype, view.data + offsets[0] + start * stride, stride, type, values.data, n);
      for (int64_t i = 0; i < n; ++i) {
        const char* const value = values.data + i * size;
        found |= std::count(value, value + size, 0) == size;
      }
    }
  });
  return found;
}

template <typename T>
T divide_trunc(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::trunc(x / y);
  } else if (std::is_signed_v<T> && y == T(-1)) {
    // The quotient of the least integer does not fit: it wraps around, where a division would trap.
    return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
  } else {
    return static_cast<T>(x / y);
  }
}

template <typename T>
T divide_floor(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (y == 0) {
      return x / y;
    }
    // Not floor(x / y), whose division may round up to an integer: the exact quotient follows from the remainder.
    const T remainder = std::fmod(x, y);
    T quotient = (x - remainder) / y;
    if (remainder != 0 && (remainder < 0) != (y < 0)) {
      quotient -= 1;
    }
    return quotient == 0 ? std::copysign(T(0), x / y) : std::round(quotient);
  } else {
    const T quotient = divide_trunc(x, y);
    const bool is_exact = static_cast<T>(quotient * y) == x;
    return static_cast<T>(quotient - (!is_exact && (x < 0) != (y < 0)));
  }
}

template <typename T>
struct Divide {
  T operator()(T x, T y) const { return x / y; }
};

/// `out = a / b` with quotients rounded as `rounding_mode` says, so that integers stay integers.
template <ET_OPERATOR_NAME_TYPE op_name>
Tensor& divide_rounded(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, ScalarType common_type,
                       std::string_view rounding_mode, Tensor& out) {
  // Check
  const bool down = rounding_mode == "floor";
  ET_KERNEL_CHECK(ctx, down || rounding_mode == "trunc", InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, common_type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, isFloatingType(common_type) || out.numel() == 0 || !contains_zero(b, common_type),
                  InvalidArgument, out);

  // Compute
  ET_SWITCH_REAL_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    elementwise([down](CTYPE x, CTYPE y) -> CTYPE { return down ? divide_floor(x, y) : divide_trunc(x, y); }, out, a,
                b);
  });
  return out;
}

}  // namespace

Tensor& div_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "div.out");
  return binary_float_out<op_name, Divide>(ctx, a, b, result_type(a, b), out);
}

Tensor& div_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "div.Scalar_out");
  return binary_float_out<op_name, Divide>(ctx, a, ScalarTensor(b).tensor(), result_type(a, b), out);
}

Tensor& div_out_mode(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b,
                     std::optional<std::string_view> rounding_mode, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "div.out_mode");
  if (!rounding_mode.has_value()) {
    return binary_float_out<op_name, Divide>(ctx, a, b, result_type(a, b), out);
  }
  return divide_rounded<op_name>(ctx, a, b, result_type(a, b), *rounding_mode, out);
}

Tensor& div_scalar_mode_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b,
                            std::optional<std::string_view> rounding_mode, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "div.Scalar_mode_out");
  ScalarTensor divisor(b);
  if (!rounding_mode.has_value()) {
    return binary_float_out<op_name, Divide>(ctx, a, divisor.tensor(), result_type(a, b), out);
  }
  return divide_rounded<op_name>(ctx, a, divisor.tensor(), result_type(a, b), *rounding_mode, out);
}

}  // namespace torch::executor::native
