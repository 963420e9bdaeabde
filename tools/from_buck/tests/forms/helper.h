#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

namespace forms::native {

// Writes `factor` times the input.
template <typename Tensor>
Tensor& scale(const Tensor& input, int factor, Tensor& out) {
  for (ssize_t i = 0; i < out.numel(); ++i) {
    out.template mutable_data_ptr<float>()[i] = static_cast<float>(factor) * input.template const_data_ptr<float>()[i];
  }
  return out;
}

}  // namespace forms::native
