"""Tests of what the AOTInductor tool refuses; examples/aoti runs what it makes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from absl.testing import absltest

from diagnostics.errors import InputError
from export import aoti

_MODEL = """
import torch
{before}
class Model(torch.nn.Module):
    def forward(self, x): return {forward}
def get_model():
    return {returned}
"""


class AotiTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = Path(self.create_tempdir().full_path)
        self.model = self.folder / "model.py"

    def assert_error(
        self, before: str, forward: str, *expected: str, returned: str = "Model(), (torch.ones(2),)"
    ) -> None:
        self.model.write_text(_MODEL.format(before=before, forward=forward, returned=returned))
        with self.assertRaises(InputError) as caught:
            aoti.package(
                self.model,
                "get_model",
                compiler=aoti.Compiler("/bin/false"),
                scratch=self.folder,
                output=self.folder / "model.pt2",
            )
        message = str(caught.exception)
        self.assertTrue(message.startswith(f"{self.model}:"), message)
        for text in (*expected, "Likely cause: ", "Fix: "):
            self.assertIn(text, message)
        self.assertNotIn("site-packages", message)

    def test_operator_that_is_not_registered(self) -> None:
        self.assert_error(
            "",
            "torch.ops.aoti_test.nowhere(x)",
            "calls aoti_test::nowhere, an operator that is not registered",
            "`deps` of the torch_aoti_package",
        )

    def test_operator_in_python(self) -> None:
        custom_op = """
@torch.library.custom_op("aoti_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2
@twice.register_fake
def _(x): return torch.empty_like(x)
"""
        self.assert_error(
            custom_op,
            "twice(x)",
            "forward() calls aoti_test::twice, which exists in Python only",
            "registered at",
            "model.py:4",
            "TORCH_LIBRARY_IMPL(aoti_test, CPU, m)",
            "#python-only-operator",
        )

    def test_kernel_in_python(self) -> None:
        library = """
library = torch.library.Library("aoti_test", "FRAGMENT")
library.define("thrice(Tensor x) -> Tensor")
library.impl("thrice", lambda x: x * 3, "CPU")
torch.library.register_fake("aoti_test::thrice", torch.empty_like)
"""
        self.assert_error(library, "torch.ops.aoti_test.thrice(x)", "aoti_test::thrice", "#python-only-operator")

    def test_operator_in_python_that_consists_of_pytorchs_is_none(self) -> None:
        composite = """
library = torch.library.Library("aoti_test", "FRAGMENT")
library.define("fourfold(Tensor x) -> Tensor")
library.impl("fourfold", lambda x: x * 4, "CompositeImplicitAutograd")
"""
        # Up to the compiler, which is none.
        self.assert_error(composite, "torch.ops.aoti_test.fourfold(x)", "AOTInductor's compilation of forward() raised")

    def test_compiler_that_fails(self) -> None:
        self.assert_error("", "x * 2", "AOTInductor's compilation of forward() raised", "C++ compiler")

    def test_several_methods(self) -> None:
        self.assert_error(
            "",
            "x * 2",
            "expected one method, forward; get_model() gives the methods encode, decode",
            "#several-methods",
            returned="{name: (Model(), (torch.ones(2),)) for name in ('encode', 'decode')}",
        )

    def test_compiler_script(self) -> None:
        script = self.folder / "cxx"
        compiler = aoti.Compiler("echo", ("-O2", '-DX="a b"'), ("-fuse-ld=gold", "-lm"))
        script.write_text(compiler.script([Path("/scratch")]))
        for arguments, expected in (
            (["-c", "a.cpp"], '-ffile-prefix-map=/scratch/= -O2 -DX="a b" -c a.cpp\n'),
            (["a.o"], '-ffile-prefix-map=/scratch/= -O2 -DX="a b" a.o -lm -Wl,-soname,model.so\n'),
        ):
            result = subprocess.run(["sh", str(script), *arguments], capture_output=True, text=True, check=True)
            self.assertEqual(result.stdout, expected)


if __name__ == "__main__":
    # As the command does, before anything compiles.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.environ.get("TEST_TMPDIR", ""))
    absltest.main()
