#include <executorch/runtime/kernel/kernel_includes.h>

#include <stdexcept>

namespace throwing::native {

using executorch::aten::Tensor;

Tensor& error_out(const Tensor&, Tensor&) { throw std::runtime_error("as the test wants it"); }

Tensor& number_out(const Tensor&, Tensor&) { throw 1; }

Tensor& nothing_out(const Tensor&, Tensor& out) { return out; }

}  // namespace throwing::native
