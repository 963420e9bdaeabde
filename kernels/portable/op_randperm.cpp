#include <algorithm>
#include <cstring>

#include "kernels/elementwise/random.h"
#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether dtype `type` has the integers from 0 to `n` (exclusive). As PyTorch, rounds the integers in BFloat16.
bool has_integers_below(int64_t n, ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
      return n <= UINT8_MAX + 1;
    case ScalarType::Char:
      return n <= INT8_MAX + 1;
    case ScalarType::Short:
      return n <= INT16_MAX + 1;
    case ScalarType::Int:
      return n <= int64_t{INT32_MAX} + 1;
    case ScalarType::Half:
    case ScalarType::Float:
    case ScalarType::Double:
      return n <= (int64_t{1} << digits_of(type)) + 1;
    default:
      return true;
  }
}

/// Exchanges each element with a random one among itself and the elements after it (Fisher and Yates).
template <typename Bits>
void shuffle_elements(char* data, int64_t n) {
  const RandomNumbers numbers;
  auto* const elements = reinterpret_cast<Bits*>(data);
  for (int64_t i = 0; i + 1 < n; ++i) {
    std::swap(elements[i], elements[i + numbers.below(i, n - i)]);
  }
}

}  // namespace

Tensor& randperm_out(KernelRuntimeContext& ctx, int64_t n, Tensor& out) {
  // Check
  const ScalarType type = out.scalar_type();
  ET_KERNEL_CHECK(ctx, is_supported(type) && type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, n >= 0 && has_integers_below(n, type), InvalidArgument, out);

  // Resize
  const int64_t size[] = {n};
  ET_KERNEL_CHECK(ctx, resize_to_size(out, size), InvalidArgument, out);

  // Compute
  auto* const data = static_cast<char*>(out.mutable_data_ptr());
  const auto element_size = static_cast<int64_t>(out.element_size());
  for (int64_t start = 0; start < n; start += kBlockSize) {
    int64_t values[kBlockSize];
    const int64_t count = std::min(kBlockSize, n - start);
    for (int64_t i = 0; i < count; ++i) {
      values[i] = start + i;
    }
    store_block(ScalarType::Long, values, type, data + start * element_size, element_size, count);
  }
  switch (element_size) {
    case 1:
      shuffle_elements<uint8_t>(data, n);
      break;
    case 2:
      shuffle_elements<uint16_t>(data, n);
      break;
    case 4:
      shuffle_elements<uint32_t>(data, n);
      break;
    default:
      shuffle_elements<uint64_t>(data, n);
  }
  return out;
}

}  // namespace torch::executor::native
