// A kernel for an operator that has another name, and one for an operator of PyTorch.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

namespace {
torch::stable::Tensor Itself(const torch::stable::Tensor& a) { return a; }
}  // namespace

STABLE_TORCH_LIBRARY(undeclared, m) { m.def("twice(Tensor a) -> Tensor"); }

STABLE_TORCH_LIBRARY_IMPL(undeclared, CPU, m) { m.impl("twise", TORCH_BOX(&Itself)); }

STABLE_TORCH_LIBRARY_IMPL(aten, PrivateUse3, m) { m.impl("relu", TORCH_BOX(&Itself)); }
