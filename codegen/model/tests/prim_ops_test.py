"""The runtime's own operators and dtypes, which the build asks the runtime for."""

from __future__ import annotations

from absl.testing import absltest

from codegen.model.prim_ops import PRIM_OPS
from codegen.model.scalar_types import SCALAR_TYPES


class PrimOpsTest(absltest.TestCase):
    def test_operators(self) -> None:
        self.assertEqual(len(PRIM_OPS), 28)
        self.assertLess({"aten::_local_scalar_dense", "aten::sym_numel", "executorch_prim::sym_ite.Scalar"}, PRIM_OPS)

    def test_dtypes(self) -> None:
        self.assertEqual(len(SCALAR_TYPES), 30)
        some = {"Byte": 0, "Half": 5, "ComplexFloat": 9, "UInt64": 29}
        self.assertLess(some.items(), SCALAR_TYPES.items())


if __name__ == "__main__":
    absltest.main()
