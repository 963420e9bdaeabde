// Takes of PyTorch what its stable ABI does not have; declared here, since the headers would not compile beside it.
#include <torch/csrc/stable/library.h>

#include <cstdint>

namespace at {
class Tensor;
void set_num_threads(int threads);
}  // namespace at

namespace c10 {
class Error;
namespace detail {
[[noreturn]] void torchCheckFail(const char* function, const char* file, uint32_t line, const char* message);
}  // namespace detail
}  // namespace c10

STABLE_TORCH_LIBRARY(unstable, m) {
  m.def("f(Tensor a) -> Tensor");
  at::set_num_threads(1);
  c10::detail::torchCheckFail("", "", 0, "");
}
