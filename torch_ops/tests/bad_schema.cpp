// There is no type Tensr; or, where it is told to, an operator is defined twice.
#include <torch/csrc/stable/library.h>

#ifdef TWICE
STABLE_TORCH_LIBRARY(defined_twice, m) {
  m.def("f(Tensor a) -> Tensor");
  m.def("f(Tensor a, int n) -> Tensor");
}
#else
STABLE_TORCH_LIBRARY(bad_schema, m) { m.def("f(Tensr a) -> Tensor"); }
#endif
