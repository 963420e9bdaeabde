// An extension module as PyTorch's tutorials write it: all of torch/extension.h, and operators beside bound functions.
#include <torch/extension.h>

namespace {

at::Tensor Scale(const at::Tensor& x, double by) { return x * by; }

at::Tensor Twice(const at::Tensor& x) { return x + x; }

}  // namespace

TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { m.def("scale(Tensor x, float by) -> Tensor"); }

TORCH_LIBRARY_FRAGMENT(TORCH_EXTENSION_NAME, m) { m.def("twice(Tensor x) -> Tensor", &Twice); }

TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, CPU, m) { m.impl("scale", &Scale); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &Scale, py::arg("x"), py::arg("by")); }
