// An extension module with a hand-written PyInit function, with the stable ABIs of Python and of PyTorch.
#include <Python.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#ifndef Py_LIMITED_API
#error "The target defines Py_LIMITED_API"
#endif

PyMODINIT_FUNC PyInit__limited() {
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "_limited", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  return PyModule_Create(&definition);
}

namespace {
torch::stable::Tensor Itself(const torch::stable::Tensor& x) { return x; }
}  // namespace

STABLE_TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { m.def("itself(Tensor(a) x) -> Tensor(a)"); }

STABLE_TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, CPU, m) { m.impl("itself", TORCH_BOX(&Itself)); }
