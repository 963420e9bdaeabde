from __future__ import annotations

import json
from pathlib import Path

from absl.testing import absltest

from codegen.artifacts import torch_manifest
from codegen.model import schema, torch_schemas
from codegen.tests import case
from diagnostics.errors import Location

_CUSTOM_OPS = """
- func: my_ops::mul4.out(Tensor input, *, str mode="sum", Tensor(a!) output) -> Tensor(a!)
  kernels:
    - arg_meta: null
      kernel_name: custom::mul4_out_impl
- func: aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  kernels:
    - arg_meta: null
      kernel_name: custom::add_out
- func: my_ops::mul3(Tensor input) -> Tensor
  kernels:
    - arg_meta: null
      kernel_name: custom::mul3
- func: my_ops::mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)
  kernels:
    - arg_meta: null
      kernel_name: custom::mul3_out
"""


def _functional(text: str) -> str | None:
    derived = torch_schemas.functional(schema.parse(text, lambda offset: Location("ops.yaml")))
    return str(derived) if derived else None


class GenerateForTorchTest(case.TestCase):
    def _define(self, *sources: str) -> Path:
        outputs = {
            "boxed_kernels": "boxed_kernels",
            "kernel_table": "KernelTable.cpp",
            "native_functions": "NativeFunctions.h",
            "torch_operators": "TorchOperators.cpp",
            "manifest": "registered.json",
            "module": "custom_ops_lib.py",
            "torch_manifest": "custom_ops_lib.torch.json",
        }
        self.run_command(
            "generate_torch",
            "--max_kernels=2000",
            "--label=//ops:custom_ops_lib",
            *sources,
            "--library=libcustom_ops_lib.so",
            *(f"--{flag}={self.directory / name}" for flag, name in outputs.items()),
        )
        return self.directory

    def _yaml(self, content: str) -> str:
        return f"--custom_ops_yaml={self.write('custom_ops.yaml', content)}"

    def test_operators(self) -> None:
        directory = self._define(self._yaml(_CUSTOM_OPS))
        text = (directory / "TorchOperators.cpp").read_text()
        table = text.partition("kOperators[] = {\n")[2].partition("};\n")[0]
        self.assertEqual(
            table,
            """\
    {"my_ops",
     "mul3(Tensor input) -> Tensor",
     nullptr,
     "custom_ops.yaml:10"},
    {"my_ops",
     "mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)",
     nullptr,
     "custom_ops.yaml:14"},
    {"my_ops",
     "mul4.out(Tensor input, *, str mode=\\"sum\\", Tensor(a!) output) -> Tensor(a!)",
     "mul4(Tensor input, *, str mode=\\"sum\\") -> Tensor",
     "custom_ops.yaml:2"},
""",
        )
        self.assertIn('DefineTorchOperators("//ops:custom_ops_lib", ', text)
        self.assertNotIn("torch/library.h", text)
        self.assertNotIn("guarded", (directory / "KernelTable.cpp").read_text())

    def test_without_functional_variants(self) -> None:
        directory = self._define(self._yaml(_CUSTOM_OPS), "--nofunctional_variants")
        text = (directory / "TorchOperators.cpp").read_text()
        self.assertIn('"mul3(Tensor input) -> Tensor"', text)  # The YAML's own.
        self.assertNotIn('"mul4(', text)

    def test_manifest_is_what_bind_reads(self) -> None:
        manifest = json.loads((self._define(self._yaml(_CUSTOM_OPS)) / "registered.json").read_text())
        self.assertEqual(manifest["label"], "//ops:custom_ops_lib")
        self.assertEqual(
            [operator["kernels"][0]["function"] for operator in manifest["operators"]][-1:],
            ["custom::native::mul4_out_impl"],
        )

    def test_fragments(self) -> None:
        directory = self._define(self._yaml(_CUSTOM_OPS))
        manifest = torch_manifest.read(str(directory / "custom_ops_lib.torch.json"))
        self.assertEqual([(r.kind, r.namespace) for r in manifest.registrations], [("fragment", "my_ops")])
        self.assertIn("'libcustom_ops_lib.so'", (directory / "custom_ops_lib.py").read_text())

    def test_kernels_with_tensors_of_pytorch(self) -> None:
        aten_source = self.directory / "AtenKernels.cpp"
        # A kernel cannot give PyTorch's tensors away.
        with_out = _CUSTOM_OPS.replace("mul3(Tensor input) -> Tensor", "mul3_(Tensor(a!) input) -> Tensor(a!)")
        yaml = self._yaml(with_out).replace("--custom", "--aten_custom")
        directory = self._define(yaml, f"--aten_source={aten_source}")
        self.assertIn("const at::Tensor& input", aten_source.read_text())
        self.assertEqual(list((directory / "boxed_kernels").iterdir()), [])
        manifest = torch_manifest.read(str(directory / "custom_ops_lib.torch.json"))
        self.assertEqual(len(manifest.registrations), 2)  # The kernels have names of their own in PyTorch, too.

    def test_stubs(self) -> None:
        directory = self._define(self._yaml(_CUSTOM_OPS), "--stubs")
        self.assertEqual(list((directory / "boxed_kernels").iterdir()), [])
        self.assertIn("mul4.out", (directory / "TorchOperators.cpp").read_text())
        self.assertNotIn("mul4", (directory / "KernelTable.cpp").read_text())

    def test_functional(self) -> None:
        for out, functional in (
            ("o::f.out(Tensor x, int n=1, *, Tensor(a!) out) -> Tensor(a!)", "o::f(Tensor x, int n=1) -> Tensor"),
            ("o::f.Scalar_out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "o::f.Scalar(Tensor x) -> Tensor"),
            (
                "o::f.values(Tensor(c!) x, *, bool s, Tensor(a!) v, Tensor(b!) i) -> (Tensor(a!) v, Tensor(b!) i)",
                "o::f(Tensor(c!) x, *, bool s) -> (Tensor, Tensor)",
            ),
            ("o::split.out(Tensor x, *, Tensor(a!)[] out) -> ()", None),
            ("o::add_(Tensor(a!) x) -> Tensor(a!)", None),
            ("o::count(Tensor x) -> int", None),
        ):
            self.assertEqual(_functional(out), functional)

    def test_operators_of_pytorch_alone(self) -> None:
        custom_ops = self._yaml("""
- func: aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  kernels:
    - arg_meta: null
      kernel_name: custom::add_out
""")
        self.assert_refused(lambda: self._define(custom_ops), "nothing-to-define custom_ops.yaml:2:9")

    def test_no_operators(self) -> None:
        self.assert_refused(self._define, "nothing-to-define //ops:custom_ops_lib")

    def _selection(self, *names: str) -> str:
        path = str(self.directory / "selected_operators.yaml")
        ops = [f"--ops={name}" for name in names]
        self.run_command("select", "--label=//ops:selection", *ops, f"--output={path}")
        return f"--selection={path}"

    def test_selection(self) -> None:
        # Operators of a program that others define are not missing here.
        selection = self._selection("my_ops::mul4.out", "aten::mul.out", "other::op.out")
        directory = self._define(self._yaml(_CUSTOM_OPS), selection)
        text = (directory / "TorchOperators.cpp").read_text()
        self.assertIn('"mul4.out(', text)
        self.assertNotIn("mul3", text)
        # No kernel is asked for that is not selected.
        self.assertNotIn("mul3", (directory / "registered.json").read_text())

    def test_selection_of_others(self) -> None:
        self.assert_refused(
            lambda: self._define(self._yaml(_CUSTOM_OPS), self._selection("other::op.out")),
            "nothing-to-define //ops:custom_ops_lib",
        )

    def test_declared_operators(self) -> None:
        declared = self.write(
            "kernels.declared.json", '[["o::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "k::f", "f.cpp", 3]]'
        )
        directory = self._define(self._yaml(_CUSTOM_OPS), f"--declared_operators={declared}")
        text = (directory / "TorchOperators.cpp").read_text()
        self.assertIn('"f(Tensor x) -> Tensor",\n     "f.cpp:3"', text)
        self.assertIn("Generated from custom_ops.yaml and kernels.declared.json", text)


if __name__ == "__main__":
    absltest.main()
