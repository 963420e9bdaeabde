// Every kind of registration, and text that only looks like one. Nobody loads it: aten is not ours to define.
#include <torch/csrc/stable/library.h>

#include "codegen/tests/torch_library/elsewhere.h"

/* Not these:
   STABLE_TORCH_LIBRARY(commented_out, m) {}
*/
// STABLE_TORCH_LIBRARY(commented_out, m) {}
const char* text = "/* STABLE_TORCH_LIBRARY(in_a_string, m) // ";

STABLE_TORCH_LIBRARY(whole, m) { m.def("f(Tensor a) -> Tensor"); }

STABLE_TORCH_LIBRARY_FRAGMENT(a_part_2, m) { m.def("f(Tensor a) -> Tensor"); }

STABLE_TORCH_LIBRARY_FRAGMENT(a_part_2, m) { m.def("g(Tensor a) -> Tensor"); }

STABLE_TORCH_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) { static_cast<void>(m); }

namespace inner {
STABLE_TORCH_LIBRARY(  // The macro and its arguments on two lines.
    aten, m) {
  static_cast<void>(m);
}
}  // namespace inner

// Known by its symbol only.
IN_A_MACRO(from_a_macro)
