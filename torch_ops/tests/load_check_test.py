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

    def _assert_refused(self, name: str, expected: str) -> None:
        self.assert_refused(lambda: self._check(_HERE / f"{name}.so"), expected)

    def test_operators(self) -> None:
        (operator,) = self._check(_HERE.parents[1] / "examples" / "torch_matmul" / "libmatmul_ops.so").operators
        schema = "custom_ops::matmul(Tensor a, Tensor b) -> Tensor"
        self.assertEqual(operator, TorchOperator("custom_ops::matmul", schema, ("CPU", "Meta")))
        self.assertFalse(hasattr(torch.ops.custom_ops, "matmul"), "not in this process")

    def test_schema_and_kernel_disagree(self) -> None:
        lines = (_HERE / "wrong_schema.cpp").read_text().splitlines()
        line = 1 + next(i for i, line in enumerate(lines) if "TORCH_LIBRARY" in line)
        self._assert_refused("wrong_schema", f"schema-mismatch torch_ops/tests/wrong_schema.cpp:{line}:1")

    def test_bad_schema(self) -> None:
        self._assert_refused("bad_schema", "bad-schema //ops:bad_schema")

    def test_operator_defined_twice(self) -> None:
        self._assert_refused("defined_twice", "operator-defined-twice torch_ops/tests/bad_schema.cpp:5:1")

    def test_undeclared_operator(self) -> None:
        self._assert_refused("undeclared", "undeclared-operator //ops:undeclared")

    def test_undefined_symbol(self) -> None:
        self._assert_refused("undefined", "undefined-symbol //ops:undefined")

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
        self._assert_refused("macro_again", "duplicate-namespace //ops:macro_again")

    def test_one_namespace_in_two_libraries(self) -> None:
        """Both have it of a macro; of another value it is another namespace."""

        def loaded(name: str, label: str) -> TorchLibrary:
            return load_check.check(str(_HERE / f"{name}.so"), label, name, _NM).manifest

        first, same, other = (loaded("macro", "//ops:a"), loaded("macro", "//ops:b"), loaded("macro_other", "//ops:c"))
        self.assert_findings(
            torch_namespaces.duplicates("//app:app", [first, same, other]), "duplicate-namespace //app:app"
        )
        self.assertEqual(torch_namespaces.duplicates("//app:app", [first, other]), [])

    def _line(self, start: str) -> Location:
        """Where the line of macro.cpp is that begins so, as the compiler was given the file."""
        lines = (_HERE / "macro.cpp").read_text().splitlines()
        return Location("torch_ops/tests/macro.cpp", 1 + next(i for i, s in enumerate(lines) if s.startswith(start)), 1)

    def test_other_exceptions(self) -> None:
        self._assert_refused("raises", "library-does-not-load //ops:raises")

    def test_library_that_exits(self) -> None:
        self._assert_refused("exits", "library-does-not-load //ops:exits")

    def test_no_library(self) -> None:
        path = self.write("libno.so", "no library")
        # The words are those of nm.
        places = self.places(lambda: load_check.check(path, "//ops:no", "no", _NM))
        self.assertEqual(places, [f"unreadable-symbols {Path(_NM).name}"])

    def test_reserved_namespaces_are_all_of_pytorch(self) -> None:
        used = {name.partition("::")[0] for name in torch._C._dispatch_get_all_op_names()}
        self.assertLessEqual(used, torch_schemas.RESERVED_NAMESPACES)
        for name in torch.library._reserved_namespaces:
            self.assertIn(name, torch_schemas.RESERVED_NAMESPACES)


if __name__ == "__main__":
    absltest.main()
