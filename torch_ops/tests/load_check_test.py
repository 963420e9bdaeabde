from __future__ import annotations

import os
from pathlib import Path

import torch
from absl.testing import absltest

from codegen.artifacts.torch_operators import TorchOperator
from codegen.checks import torch_namespaces
from codegen.model import torch_schemas
from codegen.model.torch_library import FRAGMENT, IMPL, LIBRARY, TorchLibrary, TorchRegistration
from codegen.tests import case
from diagnostics.errors import Location
from torch_ops import load_check

_HERE = Path(__file__).parent
_NM = os.environ["NM"]


class LoadCheckTest(case.TestCase):
    """Loads what the build's compiler makes of the sources beside this file."""

    def _check(self, path: Path) -> load_check.Loaded:
        return load_check.check(str(path), f"//ops:{path.stem}", path.stem, _NM)

    def _refused(self, name: str) -> str:
        return self.finding(lambda: self._check(_HERE / f"{name}.so"))

    def test_operators(self) -> None:
        (operator,) = self._check(_HERE.parents[1] / "examples" / "torch_matmul" / "libmatmul_ops.so").operators
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
        loaded = self._check(_HERE / "macro.so")
        self.assertEqual(
            loaded.manifest.registrations,
            (
                TorchRegistration(LIBRARY, "expanded", "", self._line("STABLE_TORCH_LIBRARY(NAMESPACE")),
                TorchRegistration(FRAGMENT, "expanded", "", self._line("STABLE_TORCH_LIBRARY_FRAGMENT(")),
                TorchRegistration(IMPL, "expanded", "CPU", self._line("STABLE_TORCH_LIBRARY_IMPL(")),
            ),
        )
        self.assertEqual([operator.name for operator in loaded.operators], ["expanded::thrice", "expanded::twice"])

    def test_namespace_from_macro_and_by_name(self) -> None:
        finding = self._refused("macro_again")
        self.assert_starts_with(
            finding,
            "//ops:macro_again: error: the namespace expanded is defined 2 times; loading the second definition would "
            "abort the process, which Python cannot catch\n"
            f"    //ops:macro_again ({self._line('STABLE_TORCH_LIBRARY(NAMESPACE')})\n"
            f"    //ops:macro_again ({self._line('STABLE_TORCH_LIBRARY(expanded')})\n",
        )
        self.assert_id(finding, "duplicate-namespace")

    def test_one_namespace_in_two_libraries(self) -> None:
        """Both have it of a macro; of another value it is another namespace."""

        def loaded(name: str, label: str) -> TorchLibrary:
            return load_check.check(str(_HERE / f"{name}.so"), label, name, _NM).manifest

        first, same, other = (loaded("macro", "//ops:a"), loaded("macro", "//ops:b"), loaded("macro_other", "//ops:c"))
        (finding,) = torch_namespaces.duplicates("//app:app", [first, same, other])
        self.assertIn("the namespace expanded is defined 2 times", str(finding))
        self.assertEqual(torch_namespaces.duplicates("//app:app", [first, other]), [])

    def _line(self, start: str) -> Location:
        """Where the line of macro.cpp is that begins so, as the compiler was given the file."""
        lines = (_HERE / "macro.cpp").read_text().splitlines()
        return Location("torch_ops/tests/macro.cpp", 1 + next(i for i, s in enumerate(lines) if s.startswith(start)), 1)

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
        finding = self.finding(lambda: load_check.check(path, "//ops:no", "no", _NM))
        self.assert_id(finding, "unreadable-symbols")

    def test_reserved_namespaces_are_all_of_pytorch(self) -> None:
        used = {name.partition("::")[0] for name in torch._C._dispatch_get_all_op_names()}
        self.assertLessEqual(used, torch_schemas.RESERVED_NAMESPACES)
        for name in torch.library._reserved_namespaces:
            self.assertIn(name, torch_schemas.RESERVED_NAMESPACES)


if __name__ == "__main__":
    absltest.main()
