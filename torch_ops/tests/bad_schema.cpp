// There is no type Tensr.
#include <torch/csrc/stable/library.h>

STABLE_TORCH_LIBRARY(bad_schema, m) { m.def("f(Tensr a) -> Tensor"); }
