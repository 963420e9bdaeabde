"""The operators that ExecuTorch's runtime brings itself: a program may use them, and no library provides them."""

PRIM_OPS = frozenset(
    {
        "aten::_local_scalar_dense",
        "aten::sym_numel",
        "aten::sym_size.int",
        "executorch_prim::add.Scalar",
        "executorch_prim::ceil.Scalar",
        "executorch_prim::eq.Scalar",
        "executorch_prim::et_copy_index.tensor",
        "executorch_prim::et_view.default",
        "executorch_prim::floordiv.Scalar",
        "executorch_prim::floordiv.int",
        "executorch_prim::ge.Scalar",
        "executorch_prim::gt.Scalar",
        "executorch_prim::le.Scalar",
        "executorch_prim::lt.Scalar",
        "executorch_prim::mod.Scalar",
        "executorch_prim::mod.int",
        "executorch_prim::mul.Scalar",
        "executorch_prim::neg.Scalar",
        "executorch_prim::round.Scalar",
        "executorch_prim::sub.Scalar",
        "executorch_prim::sym_float.Scalar",
        "executorch_prim::sym_int.Scalar",
        "executorch_prim::sym_ite.Scalar",
        "executorch_prim::sym_max.Scalar",
        "executorch_prim::sym_min.Scalar",
        "executorch_prim::sym_not.Scalar",
        "executorch_prim::truediv.Scalar",
        "executorch_prim::trunc.Scalar",
    }
)
