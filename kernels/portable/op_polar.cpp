#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "kernels/math/vector_math.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
void multiply_directions(int64_t n, ::executorch::aten::complex<T>* results, const T* abs, const T* angle) {
  constexpr int64_t kFew = 64;
  T cosines[kFew], sines[kFew];
  for (int64_t start = 0; start < n; start += kFew) {
    const int64_t count = std::min(kFew, n - start);
    math::cos(count, cosines, angle + start);
    math::sin(count, sines, angle + start);
    for (int64_t i = 0; i < count; ++i) {
      results[start + i] = {abs[start + i] * cosines[i], abs[start + i] * sines[i]};
    }
  }
}

}  // namespace

Tensor& polar_out(KernelRuntimeContext& ctx, const Tensor& abs, const Tensor& angle, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "polar.out");

  // Check
  const ScalarType type = abs.scalar_type();
  ET_KERNEL_CHECK(ctx, type == ScalarType::Float || type == ScalarType::Double, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(abs, angle), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == toComplexType(type), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, abs, angle), InvalidArgument, out);

  // Compute
  ET_SWITCH_COMPLEX_TYPES(out.scalar_type(), ctx, op_name, CTYPE, [&] {
    using Part = typename CTYPE::value_type;
    elementwise([](int64_t n, CTYPE* results, const Part* lengths,
                   const Part* angles) { multiply_directions(n, results, lengths, angles); },
                out, abs, angle);
  });
  return out;
}

}  // namespace torch::executor::native
