from __future__ import annotations

import ast

from absl.testing import absltest

from codegen.model import kernel_keys
from codegen.tests import case, programs
from codegen.tests.programs import Call, Method, Tensor

_FLOAT = kernel_keys.find_dtype("Float") or 0
_COMPLEX_HALF = kernel_keys.find_dtype("ComplexHalf") or 0
_BASE = '"""Not of the module."""\n\nfrom __future__ import annotations\n'
_X = Tensor(_FLOAT, (0, 1), (2, 3))
_OUT = Tensor(_FLOAT, (1, 0), (2, 3), place=(1, 0), is_dynamic=True)


class PythonLibraryCommandTest(case.TestCase):
    def _write(self, methods: dict[str, Method], name: str = "classifier") -> tuple[str, str]:
        """Returns the module and the stub."""
        self.run_command(
            "python_library",
            f"--label=//app:{name}",
            f"--program={self.write('model.pte', programs.build(methods))}",
            "--program_name=//app:model",
            f"--base={self.write('base.py', _BASE)}",
            f"--module={self.directory}/{name}.py",
            f"--stub={self.directory}/{name}.pyi",
            "--key=et01234567",
        )
        module = (self.directory / f"{name}.py").read_text()
        stub = (self.directory / f"{name}.pyi").read_text()
        ast.parse(module)
        ast.parse(stub)
        return module, stub

    def test_values(self) -> None:
        method = Method([Call("aten::add", (_X, _OUT))], inputs=(_X, 2.5, None), outputs=(_OUT, 4), memory=(24,))
        module, stub = self._write({"forward": method, "encode": method})
        self.assertNotIn("Not of the module", module)
        for text in (
            '_Tensor("float32", (2, 3), (0, 1)),',
            "_Value(2.5),",
            "_Value(None),",
            '_Tensor("float32", (2, 3), (1, 0), is_dynamic=True),',
            "_Value(4),",
            "    def encode(self, *inputs: Any) -> Any:",
            "\ndef forward(*inputs: Any) -> Any:",
        ):
            self.assertIn(text, module)
        self.assertIn(
            "\ndef encode(input0: NDArray[numpy.float32] | Dlpack, input1: float, input2: None, /)"
            " -> tuple[NDArray[numpy.float32], int]:\n"
            '    """float32 [2, 3], 2.5, None -> float32 at most [2, 3], 4"""\n',
            stub,
        )

    def test_inputs_that_a_kernel_writes_to(self) -> None:
        """The program would write to the memory of the caller."""
        method = Method([Call("aten::copy_", (_X, _OUT, False, _X))], inputs=(_X,), outputs=(_OUT,), memory=(24,))
        module, _ = self._write({"forward": method})
        self.assertIn('_Tensor("float32", (2, 3), (0, 1), is_written=True),', module)

    def test_names(self) -> None:
        method = Method([Call("aten::add", (_X, _OUT))], inputs=(_X,), outputs=(_OUT,), memory=(24,))
        methods = dict.fromkeys(("class", "set_threads", "_run", "a-b", "good"), method)
        self.assert_refused(lambda: self._write(methods, "my-model"), *["no-python-name //app:my-model"] * 5)

    def test_dtype_that_numpy_lacks(self) -> None:
        out = Tensor(_COMPLEX_HALF, (0,), (2,), place=(1, 0))
        method = Method([Call("aten::add", (_X, out))], inputs=(_X,), outputs=(out,), memory=(24,))
        self.assert_refused(lambda: self._write({"forward": method}), "no-numpy-dtype //app:classifier")


if __name__ == "__main__":
    absltest.main()
