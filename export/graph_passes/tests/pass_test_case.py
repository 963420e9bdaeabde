"""What tests of graph passes share: small model files, their export, and their run by ExecuTorch's runtime."""

from __future__ import annotations

import contextlib
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from absl.testing import absltest
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from torch.export import ExportedProgram

from codegen.inputs import program_reader
from export.exporter import Exported, export
from export.graph_passes import passes, quantized
from export.graph_passes.graph_pass import GraphPass, Stage
from export.graph_passes.report import PassReport
from export.graph_passes.tests import rewriting
from export.user import samples
from export.user.model_file import Method

ATTENTION_OUT = "rules_executorch::scaled_dot_product_attention.out"
CONVOLUTION_OUT = "rules_executorch::fused_convolution.out"
PACKED_CONVOLUTION_OUT = "rules_executorch::packed_convolution.out"
PACKED_LINEAR_OUT = "rules_executorch::packed_linear.out"
RMS_NORM_OUT = "rules_executorch::rms_norm.out"
WINOGRAD_CONVOLUTION_OUT = "rules_executorch::winograd_convolution.out"


def model_file(forward: str, *inputs: str, init: str = "pass", takes: str = "x, *others", after: str = "") -> str:
    """A model file with one module, whose buffers and weights are random."""
    source = f"""
import math

import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
{textwrap.indent(textwrap.dedent(init), " " * 8)}

    def forward(self, {takes}):
{textwrap.indent(textwrap.dedent(forward), " " * 8)}

def _randomize(module):
    for name, tensor in module.state_dict().items():
        if tensor.is_floating_point() and "cache" not in name:
            tensor.copy_(torch.rand_like(tensor) + 0.5)
    return module

def get_model():
    return _randomize(Model()), ({", ".join(inputs)},)
"""
    return source + textwrap.dedent(after)


# The end of a model file that PT2E quantizes.
QUANTIZER = """
def get_quantizer():
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer

    config = xnnpack_quantizer.get_symmetric_quantization_config(is_per_channel=True)
    return xnnpack_quantizer.XNNPACKQuantizer().set_global(config)
"""


def padded_model(pad: str, convolution: str = "Conv2d(3, 4, 3, padding=(1, 0))") -> str:
    """A model file with a convolution after a pad."""
    forward = f"return self.layer(torch.nn.functional.pad(x, {pad}))"
    return model_file(forward, "torch.rand(1, 3, 6, 5)", init=f"self.layer = torch.nn.{convolution}")


def model_by_torchao(
    config: str, forward: str = "return self.layer(x)", x: str = "torch.rand(1, 128)", dtype: str = "torch.float32"
) -> str:
    """A model file whose linear layer, of 128 features, torchao quantizes."""
    x = f"{x}.to({dtype})"
    return model_file(
        forward,
        x,
        init="self.layer = torch.nn.Linear(128, 160)",
        after=f"""
        from torchao import quantization
        from torchao.quantization.granularity import PerAxis, PerGroup

        def get_model():
            model = Model().eval().to({dtype})
            quantization.quantize_(model, quantization.{config})
            return model, ({x},)
        """,
    )


# What differs where torchao rounds weights and the scales of rows to a dtype, too.
ROUNDED = {"torch.float16": 0.01, "torch.bfloat16": 0.08}


# Of the largest element. Sums of bytes are exact, those of the floats that they stand for are not: some results differ
# by a step, one of 255.
_TOLERANCES = {torch.float16: 4e-3, torch.bfloat16: 3e-2}
_TOLERANCE_OF_BYTES = 0.02


def _is_unknown(call: str) -> bool:
    """Whether ExecuTorch's own library lacks an operator."""
    return call == "aten::linear.out" or call.startswith("rules_executorch::")


class PassTestCase(absltest.TestCase):
    """Exports model files. Behind each pass, the graph is run, and compared with the graph before all passes."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = Path(self.create_tempdir().full_path)
        self._run_passes = passes.run
        self.enter_context(mock.patch.object(passes, "run", self._run_compared))

    def _run_compared(
        self,
        selected: Sequence[GraphPass],
        stage: Stage,
        method: Method,
        program: ExportedProgram,
        *,
        is_partitioned: bool,
        strict: bool,
    ) -> tuple[PassReport, ...]:
        graph = rewriting.Rewritten(program)
        example = method.example.flatten()[0]

        def outputs() -> list[Any]:
            # A run writes to the inputs that the method changes.
            return graph.run(tuple(one.clone() if isinstance(one, torch.Tensor) else one for one in example))

        expected = [] if is_partitioned else outputs()
        least = _TOLERANCE_OF_BYTES if quantized.is_quantized(program) else 1e-4

        def compare(one: GraphPass) -> None:
            for index, (actual, wanted) in enumerate(zip(outputs() if expected else [], expected, strict=True)):
                with self.subTest(method=method.name, after=one.name, output=index):
                    tolerance = max(least, _TOLERANCES.get(wanted.dtype, 0))
                    sizes = wanted[wanted.isfinite()].double().abs()
                    largest = sizes.max().item() if sizes.numel() else 0
                    torch.testing.assert_close(actual, wanted, rtol=0, atol=tolerance * largest, equal_nan=True)

        return self._run_passes(
            selected, stage, method, program, is_partitioned=is_partitioned, strict=strict, after_each=compare
        )

    def export(
        self, source: str, names: Sequence[str], backends: Sequence[str] = (), *, strict: bool = True
    ) -> Exported:
        model = self.folder / "model.py"
        model.write_text(source)
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            return export(model, graph_passes=names, backends=backends, strict_passes=strict)

    def calls(self, exported: Exported) -> list[str]:
        """The operators that the program calls."""
        path = self.folder / "model.pte"
        path.write_bytes(exported.pte)
        return sorted(program_reader.read(str(path), "model").calls)

    def changes(self, exported: Exported, name: str) -> list[str]:
        """What a pass did."""
        (of_pass,) = (one for one in exported.graph_passes["forward"] if one.name == name)
        return sorted(change.what for change in of_pass.changes)

    def check_values(self, exported: Exported) -> None:
        """The program gives what PyTorch gives."""
        payload = FlatTensorSerializer().deserialize(exported.ptd)
        tensors = {
            key: samples.tensor(samples.Value(entry.tensor_layout, payload.buffers[entry.buffer_index]))
            for key, entry in payload.named_data.items()
        }
        module = _load_for_executorch_from_buffer(exported.pte)
        keys = sorted(tensors, key=lambda key: int(key.rpartition("/")[2]))
        for sample in range(sum(key.endswith("/output/0") for key in keys)):
            inputs = [tensors[key] for key in keys if key.startswith(f"forward/{sample}/input/")]
            expected = [tensors[key] for key in keys if key.startswith(f"forward/{sample}/output/")]
            given = [tensor.clone() for tensor in inputs]
            torch.testing.assert_close(list(module.run_method("forward", given)), expected, rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(given, inputs, rtol=0, atol=0)

    def check_graph(
        self, module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], *names: str, tolerance: float = 1e-4
    ) -> None:
        """A module's graph gives what the module gives once some passes ran, of which the last one acts."""
        edge = to_edge_transform_and_lower(
            torch.export.export(module, inputs),
            compile_config=EdgeCompileConfig(_check_ir_validity=False, preserve_ops=[torch.ops.aten.linear.default]),
        )
        program = edge.exported_program()
        *_, changes = [passes.apply(one, program) for one in passes.select(names)]
        self.assertNotEqual(len(changes), 0)
        torch.testing.assert_close(program.module()(*inputs), module(*inputs), rtol=tolerance, atol=tolerance)

    def check(self, name: str, source: str, *, changes: Sequence[str], calls: Sequence[str]) -> Exported:
        """What a pass alone does to a model whose program calls some operators afterwards."""
        exported = self.export(source, [name])
        self.assertEqual(self.changes(exported, name), sorted(changes))
        self.assertEqual(self.calls(exported), sorted(calls))
        if not any(_is_unknown(call) for call in calls):
            self.check_values(exported)
        return exported
