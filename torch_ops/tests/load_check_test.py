from __future__ import annotations

import os
from pathlib import Path

import torch
from absl.testing import absltest

from codegen.artifacts.torch_operators import TorchOperator
from codegen.binaries import torch_registrations
from codegen.model import torch_schemas
from codegen.model.torch_library import TorchLibrary
from codegen.tests import case
from torch_ops import load_check

_HERE = Path(__file__).parent
_NM = os.environ["NM"]


class LoadCheckTest(case.TestCase):
    """Loads what the build's compiler makes of the sources beside this file."""

    def _check(self, path: Path) -> list[TorchOperator]:
        label = f"//ops:{path.stem}"
        manifest = TorchLibrary(label, torch_registrations.read(str(path), [], _NM))
        return load_check.check(str(path), manifest, _NM)

    def _refused(self, name: str) -> str:
        return self.finding(lambda: self._check(_HERE / f"{name}.so"))

    def test_operators(self) -> None:
        (operator,) = self._check(_HERE.parents[1] / "examples" / "torch_matmul" / "libmatmul_ops.so")
        schema = "custom_ops::matmul(Tensor a, Tensor b) -> Tensor"
        self.assertEqual(operator, TorchOperator("custom_ops::matmul", schema, ("CPU", "Meta")))
        self.assertFalse(hasattr(torch.ops.custom_ops, "matmul"), "not in this process")

    def test_schema_and_kernel_disagree(self) -> None:
        finding = self._refused("wrong_schema")
        lines = (_HERE / "wrong_schema.cpp").read_text().splitlines()
        line = 1 + next(i for i, line in enumerate(lines) if "TORCH_LIBRARY" in line)
        self.assert_starts_with(
            finding,
            f"torch_ops/tests/wrong_schema.cpp:{line}:1: error: an operator's schema and its kernel disagree; a "
            "process that loads //ops:wrong_schema aborts\n",
        )
        self.assertIn("expected schema: wrong_schema::scale(Tensor a) -> Tensor\n", finding)
        self.assertIn("inferred schema: (Tensor _0, float _1) -> Tensor _0\n", finding)
        self.assertNotIn("frame #", finding)
        self.assert_id(finding, "schema-mismatch")

    def test_bad_schema(self) -> None:
        finding = self._refused("bad_schema")
        self.assertIn("//ops:bad_schema: error: PyTorch does not accept an operator's schema; a process ", finding)
        self.assertIn("\n    f(Tensr a) -> Tensor\n", finding)
        self.assert_id(finding, "bad-schema")

    def test_operator_defined_twice(self) -> None:
        finding = self._refused("defined_twice")
        self.assertIn(
            ": error: an operator is defined twice; a process that loads //ops:defined_twice aborts\n", finding
        )
        self.assert_id(finding, "operator-defined-twice")

    def test_undeclared_operator(self) -> None:
        finding = self._refused("undeclared")
        self.assert_starts_with(
            finding,
            "//ops:undeclared: error: the library has kernels for undeclared::twise, which no library that is loaded "
            "defines",
        )
        self.assertIn("\n    undeclared::twise: torch_ops/tests/undeclared.cpp:", finding)
        self.assert_id(finding, "undeclared-operator")

    def test_undefined_symbol(self) -> None:
        finding = self._refused("undefined")
        self.assert_starts_with(
            finding,
            "//ops:undefined: error: the library uses mine::Forgotten(mine::Settings const*), which neither it nor "
            "PyTorch defines\n",
        )
        self.assert_id(finding, "undefined-symbol")

    def test_namespace_from_macro(self) -> None:
        finding = self._refused("macro")
        self.assert_starts_with(
            finding,
            "//ops:macro: error: the library defines operators in expanded, but its symbols say NAMESPACE\n",
        )
        self.assert_id(finding, "namespace-from-macro")

    def test_other_exceptions(self) -> None:
        finding = self._refused("raises")
        self.assertIn(
            "//ops:raises: error: the library does not load; a process that loads //ops:raises aborts\n"
            "    no license for this library, \N{REPLACEMENT CHARACTER}\n  Likely cause: ",
            finding,
        )
        self.assert_id(finding, "library-does-not-load")

    def test_library_that_exits(self) -> None:
        finding = self._refused("exits")
        self.assert_starts_with(
            finding,
            "//ops:exits: error: the library does not load; a process that loads //ops:exits ends\n"
            "    it printed nothing\n",
        )
        self.assert_id(finding, "library-does-not-load")

    def test_no_library(self) -> None:
        path = self.write("libno.so", "no library")
        finding = self.finding(lambda: load_check.check(path, TorchLibrary("//ops:no", ()), _NM))
        self.assert_id(finding, "unreadable-symbols")

    def test_reserved_namespaces_are_all_of_pytorch(self) -> None:
        used = {name.partition("::")[0] for name in torch._C._dispatch_get_all_op_names()}
        self.assertLessEqual(used, torch_schemas.RESERVED_NAMESPACES)
        for name in torch.library._reserved_namespaces:
            self.assertIn(name, torch_schemas.RESERVED_NAMESPACES)


if __name__ == "__main__":
    absltest.main()
