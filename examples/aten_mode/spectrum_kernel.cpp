#include <ATen/core/Tensor.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/tensor.h>

#include <optional>

namespace signal::native {

at::Tensor& power_spectrum_out(const at::Tensor& x, std::optional<at::ArrayRef<double>> weights, at::Tensor& out) {
  const at::Tensor weighted = weights ? x.mul(at::tensor(*weights, x.options())) : x;
  const at::Tensor power = at::fft_rfft(weighted).abs().pow(2);
  out.resize_(power.sizes());
  return out.copy_(power);
}

}  // namespace signal::native
