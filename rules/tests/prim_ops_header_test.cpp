// Includes selected_prim_ops.h as ExecuTorch's register_prim_ops.cpp does, and judges its guards like it.

#ifndef ET_PRIM_OPS_SELECTIVE_BUILD
#error "the runtime would not read selected_prim_ops.h"
#endif

#include "selected_prim_ops.h"

#ifndef EXECUTORCH_ENABLE_PRIM_OPS_SELECTIVE_BUILD
#error "the runtime would keep all of its operators"
#endif

// Of two selections.
#if !defined(INCLUDE_ATEN_SYM_SIZE_INT) || !defined(INCLUDE_ATEN_LOCAL_SCALAR_DENSE) || \
    !defined(INCLUDE_EXECUTORCH_PRIM_ET_VIEW_DEFAULT)
#error "a selected operator is left out"
#endif

#if defined(INCLUDE_ATEN_SYM_NUMEL) || defined(INCLUDE_EXECUTORCH_PRIM_ADD_SCALAR) || defined(INCLUDE_ATEN_ADD_OUT)
#error "an operator is kept that is not selected, or not the runtime's"
#endif

int main() {}
