#include <torch/csrc/stable/library.h>

STABLE_TORCH_LIBRARY(whole, m) { m.def("h(Tensor a) -> Tensor"); }
