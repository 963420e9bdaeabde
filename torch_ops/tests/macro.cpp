// A namespace out of a macro; where it is told to, the same once more by its name.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#ifdef OTHER
#define NAMESPACE other
#else
#define NAMESPACE expanded
#endif

namespace {
torch::stable::Tensor Itself(const torch::stable::Tensor& a) { return a; }
}  // namespace

STABLE_TORCH_LIBRARY(NAMESPACE, m) { m.def("twice(Tensor a) -> Tensor"); }

STABLE_TORCH_LIBRARY_FRAGMENT(NAMESPACE, m) { m.def("thrice(Tensor a) -> Tensor"); }

STABLE_TORCH_LIBRARY_IMPL(NAMESPACE, CPU, m) { m.impl("twice", TORCH_BOX(&Itself)); }

#ifdef AGAIN
STABLE_TORCH_LIBRARY(expanded, m) { m.def("more(Tensor a) -> Tensor"); }
#endif
