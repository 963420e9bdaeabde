"""Tests that operators of ours are in PyTorch what own_custom_ops.yaml says.

Where tests run graphs (tests/rewriting.py), each operator is compared with its fake and with its out variant.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
import yaml
from absl.testing import absltest

import export
from export.graph_passes import calls
from export.graph_passes.operators import packed_convolution, registration

_YAML = Path(export.__path__[0]).parent / "kernels/optimized/own_custom_ops.yaml"
_SCHEMAS = {entry["func"].partition("(")[0]: entry["func"] for entry in yaml.safe_load(_YAML.read_text())}
_VIEWS = [one for one in vars(calls).values() if getattr(one, "OPERATOR", "").startswith(f"{registration.NAMESPACE}::")]


class OperatorsTest(absltest.TestCase):
    def test_schemas(self) -> None:
        names = {view.overload()._schema.name for view in _VIEWS}
        self.assertEqual(names, {name.removesuffix(".out") for name in _SCHEMAS})
        for name, text in _SCHEMAS.items():
            out = torch._C.parse_schema(text)
            namespace, operator = name.removesuffix(".out").split("::")
            registered = getattr(getattr(torch.ops, namespace), operator)
            self.assertEqual(registered.out._schema, out)
            functional = torch._C.parse_schema(
                text.replace(".out(", "(")
                .replace(", *, Tensor(a!) out)", ")")
                .replace(", Tensor(a!) out)", ")")
                .replace("Tensor(a!)", "Tensor")
            )
            self.assertEqual(registered.default._schema, functional)
            self.assertCountEqual(registered.overloads(), ["default", "out"])

    def test_an_operator_that_no_file_computes(self) -> None:
        class Unknown(registration.OwnCall[Any]):
            OPERATOR = "rules_executorch::unknown"

        with self.assertRaisesRegex(LookupError, "export/graph_passes/rewrites implements rules_executorch::unknown"):
            Unknown.overload()


class PackedConvolutionTest(absltest.TestCase):
    def test_nan_in_the_next_pixel(self) -> None:
        x = torch.zeros(2, 3, 8, 8, dtype=torch.bfloat16).contiguous(memory_format=torch.channels_last)
        x[:, :, 1:7, 1:7] = torch.nan
        weight = torch.ones(1, 3, 1, 1, dtype=torch.bfloat16)
        arguments = (None, None, [1, 1], 1, [1, 1], [0, 0], [0, 0], [1, 1], 1)
        call = calls.PackedConvolution.overload()
        result = call(x, packed_convolution.pack(weight, 1), *arguments)
        self.assertTrue(torch.equal(result.isnan(), x[:, :1].isnan()))


class RegistrationTest(absltest.TestCase):
    def test_only_what_is_called_is_registered(self) -> None:
        program = (
            "import torch\n"
            "from export.graph_passes import calls, passes\n"
            "calls.RmsNorm.overload()\n"
            "names = [n for n in torch._C._dispatch_get_all_op_names() if n.startswith('rules_executorch::')]\n"
            "print(sorted(names))\n"
        )
        printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        self.assertEqual(printed.splitlines()[-1], "['rules_executorch::rms_norm', 'rules_executorch::rms_norm.out']")


if __name__ == "__main__":
    absltest.main()
