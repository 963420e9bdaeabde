#pragma once

#define IN_A_MACRO(ns) \
  STABLE_TORCH_LIBRARY(ns, m) { m.def("f(Tensor a) -> Tensor"); }
