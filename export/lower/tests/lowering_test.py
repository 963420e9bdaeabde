"""Tests of lowering: backends, quantization and the report, against PyTorch and ExecuTorch's Python runtime."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import textwrap
from typing import Any
from unittest import mock

import torch
from absl.testing import absltest
from executorch.backends.xnnpack.quantizer import xnnpack_quantizer_utils
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from torchao.quantization.pt2e import qat_utils

from codegen.inputs import program_content_reader, program_reader
from codegen.model.execution_plan import Tensor
from codegen.model.program import Program
from diagnostics.errors import InputError
from diagnostics.golden import case
from export.exporter import Exported, export
from export.patches import batch_norm_patterns
from export.report import delegation

_LINEAR = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 8)
        self.register_buffer("sum", torch.zeros(1, 8))
    def forward(self, x, *, scale):
        y = torch.relu(self.linear(x * scale))
        self.sum.add_(y)
        return self.sum.cumsum(1) * 0.125

def _inputs(count):
    return [{"x": torch.rand(1, 16), "scale": torch.tensor([2.0])} for _ in range(count)]

def get_model():
    return Model(), _inputs(1)[0]

def get_sample_inputs():
    return _inputs(3)
"""
# A backend of the model file's own, whose partitioner takes some operators and says why it takes no other.
_OWN_BACKEND = """
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import WhyNoPartition
import logging

class First(BackendDetails):
    @staticmethod
    def preprocess(edge_program, compile_specs):
        return PreprocessResult(b"".join(spec.value for spec in compile_specs))

class Second(BackendDetails):
    preprocess = staticmethod(First.preprocess)

class Taking(Partitioner):
    def __init__(self, backend, names):
        super().__init__()
        self.names = names
        self.delegation_spec = DelegationSpec(backend, [CompileSpec("key", b"the compile spec of " + backend.encode())])
    def partition(self, exported_program):
        tags = {}
        for node in exported_program.graph.nodes:
            if node.op == "call_function" and any(name in str(node.target) for name in self.names):
                node.meta["delegation_tag"] = node.name
                tags[node.name] = self.delegation_spec
            elif node.op == "call_function":
                WhyNoPartition(logging.getLogger("own"))(node, f"only {self.names} are known.")
        return PartitionResult(exported_program, tags)
"""


def _read(ptd: bytes) -> dict[str, torch.Tensor]:
    payload = FlatTensorSerializer().deserialize(ptd)
    return {
        key: torch.frombuffer(bytearray(payload.buffers[entry.buffer_index]), dtype=torch.float32).reshape(
            list(entry.tensor_layout.sizes)
        )
        for key, entry in payload.named_data.items()
    }


class _Files(case.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = self.directory
        self.model = self.folder / "model.py"

    def export(self, source: str, **options: Any) -> Exported:
        self.model.write_text(source)
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            return export(self.model, **options)

    def read(self, pte: bytes) -> Program:
        """What the program itself says that it needs."""
        path = self.folder / "model.pte"
        path.write_bytes(pte)
        return program_reader.read(str(path), "model")

    def snr(self, exported: Exported) -> float:
        """How many decibels PyTorch's outputs are stronger than the differences, at least."""
        samples = _read(exported.ptd)
        module = _load_for_executorch_from_buffer(exported.pte)
        ratios = []
        for i in range(3):
            (output,) = module.run_method("forward", [samples[f"forward/{i}/input/{j}"] for j in range(2)])
            expected = samples[f"forward/{i}/output/0"]
            ratios.append(10 * torch.log10((expected**2).sum() / ((output - expected) ** 2).sum()).item())
        return min(ratios)


class RecipesTest(_Files):
    def test_xnnpack(self) -> None:
        exported = self.export(_LINEAR, backends=["xnnpack"])
        program = self.read(exported.pte)
        self.assertEqual(program.backends, {"XnnpackBackend"})
        # What a selection for the program has: the operator that stayed, and that which keeps the state.
        self.assertEqual(set(program.calls), {"aten::cumsum.out", "aten::copy_"})
        self.assertGreater(self.snr(exported), 100)
        self.assertEqual(
            delegation.as_text(exported.delegations),
            textwrap.dedent(
                f"""\
                forward: 5 of 6 operators in 2 delegates
                  delegate 0, XnnpackBackend: 1 aten::add.Tensor, 1 aten::linear, 1 aten::mul.Tensor, 1 aten::relu
                  delegate 1, XnnpackBackend: 1 aten::mul.Tensor
                  kernels:
                    1 aten::cumsum: no partitioner takes the operator here; {self.model}:12:1
                """
            ),
        )
        report: dict[str, Any] = json.loads(delegation.as_json(exported.delegations))
        self.assertEqual(report["backends"], ["XnnpackBackend"])
        self.assertEqual(report["methods"]["forward"]["delegates"][1]["operators"], {"aten::mul.Tensor": 1})
        (remaining,) = report["methods"]["forward"]["remaining"]
        self.assertEqual(remaining["operator"], "aten::cumsum")

    def test_int8(self) -> None:
        source = _LINEAR + "def get_calibration_inputs():\n    return _inputs(5)\n"
        exported = self.export(source, backends=["xnnpack"], quantize="xnnpack_int8")
        # The state that calibration leaves is not that which the program starts with.
        self.assertGreater(self.snr(exported), 25)
        delegate = exported.delegations["forward"].delegates[0]
        self.assertIn("quantized_decomposed::dequantize_per_channel", delegate.operators)
        self.assertEqual(exported, self.export(source, backends=["xnnpack"], quantize="xnnpack_int8"))

    def test_integers_and_batch_norms(self) -> None:
        exported = self.export(
            textwrap.dedent(
                """
                import torch

                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.table = torch.nn.Embedding(8, 4)
                        self.convolution = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2))
                    def forward(self, x, tokens):
                        positions = torch.arange(4) * 2 + 1
                        return self.convolution(self.table((tokens + 1 + positions) % 8) + x)

                def _inputs(count):
                    return [(torch.rand(1, 1, 4, 4), torch.randint(0, 8, (1, 1, 4))) for _ in range(count)]

                def get_model():
                    return Model(), _inputs(1)[0]

                def get_calibration_inputs():
                    return _inputs(8)
                """
            ),
            backends=["xnnpack"],
            quantize="xnnpack_int8",
        )
        (delegate,) = exported.delegations["forward"].delegates
        self.assertIn("aten::convolution", delegate.operators)
        self.assertIn(
            "aten::embedding", {remaining.operator for remaining in exported.delegations["forward"].remaining}
        )

    def test_int8_dynamic(self) -> None:
        exported = self.export(_LINEAR, backends=["xnnpack"], quantize="xnnpack_int8_dynamic")
        self.assertGreater(self.snr(exported), 40)
        operators = [name for delegate in exported.delegations["forward"].delegates for name in delegate.operators]
        self.assertIn("quantized_decomposed::choose_qparams.tensor", operators)

    def test_quantized_without_a_backend(self) -> None:
        exported = self.export(_LINEAR, quantize="xnnpack_int8_dynamic")
        self.assertEqual(self.read(exported.pte).backends, frozenset())
        operators = {remaining.operator for remaining in exported.delegations["forward"].remaining}
        self.assertIn("quantized_decomposed::dequantize_per_channel", operators)


class ModelFileTest(_Files):
    def test_backends_in_order(self) -> None:
        exported = self.export(
            _LINEAR
            + _OWN_BACKEND
            + "def get_partitioners():\n    return [Taking('First', ['relu']), Taking('Second', ['relu', 'cumsum'])]\n"
        )
        forward = exported.delegations["forward"]
        self.assertEqual(
            [(delegate.backend, delegate.operators) for delegate in forward.delegates],
            [("First", {"aten::relu": 1}), ("Second", {"aten::cumsum": 1})],
        )
        self.assertEqual(self.read(exported.pte).backends, {"First", "Second"})
        self.assertIn(b"the compile spec of Second", exported.pte)
        reasons = {remaining.operator: (remaining.reason, remaining.at) for remaining in forward.remaining}
        self.assertEqual(reasons["aten::addmm"], ("only ['relu', 'cumsum'] are known", f"{self.model}:10:1"))

    def test_several_methods(self) -> None:
        exported = self.export(
            _LINEAR.replace(
                "return Model(), _inputs(1)[0]", "return {'a': (Model(), _inputs(1)[0]), 'b': (Model(), _inputs(1)[0])}"
            ).replace("return _inputs(3)", "return {'a': _inputs(1)}")
            + _OWN_BACKEND
            + "def get_partitioners():\n    return {'b': [Taking('First', ['relu'])]}\n"
        )
        self.assertEqual(exported.delegations["a"].delegates, ())
        self.assertEqual(exported.delegations["a"].remaining[0].reason, "no backend was asked for")
        self.assertEqual([delegate.backend for delegate in exported.delegations["b"].delegates], ["First"])

    def test_aten_passes(self) -> None:
        exported = self.export(
            _LINEAR
            + textwrap.dedent(
                """
                def _replacing(old, new):
                    def replace(exported):
                        for node in exported.graph.nodes:
                            if node.target == old:
                                node.target = new
                        return exported
                    return replace

                _aten = torch.ops.aten

                # The second sees what the first left; both see operators that the edge dialect has decomposed.
                def get_aten_passes():
                    return [
                        _replacing(_aten.relu.default, _aten.neg.default),
                        _replacing(_aten.neg.default, _aten.silu.default),
                    ]
                """
            )
        )
        operators = {remaining.operator for remaining in exported.delegations["forward"].remaining}
        self.assertIn("aten::sigmoid", operators)
        self.assertFalse({"aten::neg", "aten::relu", "aten::silu"} & operators)

    def test_edge_compile_config(self) -> None:
        config = """
from executorch.exir import EdgeCompileConfig
def get_edge_compile_config():
    return EdgeCompileConfig(preserve_ops=[torch.ops.aten.linear.default], _check_ir_validity=False)
"""
        for source, expected, other in (
            (_LINEAR, "aten::addmm", "aten::linear"),
            (_LINEAR + config, "aten::linear", "aten::addmm"),
        ):
            exported = self.export(source)
            operators = {remaining.operator for remaining in exported.delegations["forward"].remaining}
            self.assertIn(expected, operators)
            self.assertNotIn(other, operators)

    def test_memory_planning_pass(self) -> None:
        """A pass of the model file puts large tensors into a memory of their own, and no inputs."""
        planning = """
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, greedy
from executorch.exir.passes import MemoryPlanningPass


def _in_two_memories(alignment, specs, *arguments):
    for spec in specs:
        spec.mem_id = 2 if spec.nbytes() > 100 else 1
    return greedy(alignment, specs, *arguments)


def get_memory_planning_pass():
    return MemoryPlanningPass(
        MemoryPlanningAlgorithmSuite([_in_two_memories]), alloc_graph_input=False, alignment=64
    )
"""
        model = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return (x @ x).sum(0) * 2


def get_model():
    return Model(), (torch.ones(8, 8),)
"""
        path = self.write("model.pte", self.export(model + planning).pte)
        (plan,) = program_content_reader.read(path, "//app:model").plans
        self.assertLen(plan.memory_sizes, 2)
        tensors = [value for value in plan.values if isinstance(value, Tensor)]
        self.assertIsNone(tensors[0].place)
        places = {(one.place.memory, one.place.offset % 64) for one in tensors if one.place is not None}
        self.assertEqual(places, {(1, 0), (2, 0)})

    def test_edge_passes(self) -> None:
        exported = self.export(
            _LINEAR
            + textwrap.dedent(
                """
                from executorch.exir.dialects._ops import ops

                def _replace(graph_module):
                    for node in graph_module.graph.nodes:
                        if node.target == ops.edge.aten.relu.default:
                            node.target = ops.edge.aten.neg.default
                    graph_module.recompile()
                    return torch.fx.passes.infra.pass_base.PassResult(graph_module, True)

                def get_edge_passes():
                    return [_replace]
                """
            )
        )
        operators = {remaining.operator for remaining in exported.delegations["forward"].remaining}
        self.assertIn("aten::neg", operators)
        self.assertNotIn("aten::relu", operators)

    def test_quantizer(self) -> None:
        exported = self.export(
            _LINEAR
            + textwrap.dedent(
                """
                from executorch.backends.xnnpack.quantizer import xnnpack_quantizer

                def get_quantizer():
                    quantizer = xnnpack_quantizer.XNNPACKQuantizer()
                    return quantizer.set_module_type(
                        torch.nn.Linear, xnnpack_quantizer.get_symmetric_quantization_config()
                    )
                """
            ),
            backends=["xnnpack"],
        )
        self.assertGreater(self.snr(exported), 30)
        linear, multiplication = exported.delegations["forward"].delegates
        self.assertIn("quantized_decomposed::quantize_per_tensor", linear.operators)
        self.assertEqual(multiplication.operators, {"aten::mul.Tensor": 1})

    def test_batch_norms_that_stay(self) -> None:
        """A batch norm in front of a layer stays, and torchao exports no patterns of training to search for."""
        source = """
import torch

def get_model():
    layers = torch.nn.Sequential(torch.nn.BatchNorm2d(3), torch.nn.Conv2d(3, 4, 3)).eval()
    return layers, (torch.rand(1, 3, 8, 8),)
"""
        with mock.patch.object(qat_utils, "_get_aten_graph_module_for_pattern") as exported_pattern:
            exported = self.export(source, quantize="xnnpack_int8")
        exported_pattern.assert_not_called()
        self.assertIn(b"_native_batch_norm_legit_no_training", exported.pte)

    def test_folded_batch_norms(self) -> None:
        """XNNPACKQuantizer exports no patterns with batch norms to search for, and the program is the same."""
        source = """
import torch

def get_model():
    torch.manual_seed(3)
    layers = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU()).eval()
    return layers, (torch.rand(1, 3, 8, 8),)
"""
        with mock.patch.object(
            xnnpack_quantizer_utils,
            "_get_aten_graph_module_for_pattern",
            wraps=xnnpack_quantizer_utils._get_aten_graph_module_for_pattern,
        ) as exported_pattern:
            exported = self.export(source, quantize="xnnpack_int8")
            exported_pattern.assert_not_called()
            with mock.patch.object(batch_norm_patterns, "skipped", contextlib.nullcontext):
                searched = self.export(source, quantize="xnnpack_int8")
            exported_pattern.assert_called()
        self.assertEqual(exported.pte, searched.pte)


class ErrorsTest(_Files):
    def assert_error(self, expected: str, source: str, **options: Any) -> None:
        self.assert_refused(lambda: self.export(source, **options), expected)

    def assert_error_of_others(self, id: str, found: str, source: str) -> None:
        """A message that has words of other packages, or columns, which no version of Python before 3.11 knows."""
        with self.assertRaises(InputError) as raised:
            self.export(source)
        (finding,) = raised.exception.findings
        self.assertEqual(finding.id, id, finding)
        self.assertIn(found, str(finding))

    def test_unknown_recipes(self) -> None:
        self.assert_error("unknown-recipe attribute backends", _LINEAR, backends=["xnpack"])
        self.assert_error("unknown-recipe attribute quantize", _LINEAR, quantize="int4")

    def test_package_that_is_not_there(self) -> None:
        with mock.patch.dict(sys.modules, {"executorch.backends.xnnpack.partition.xnnpack_partitioner": None}):
            self.assert_error("recipe-cannot-import attribute backends", _LINEAR, backends=["xnnpack"])

    def test_said_twice(self) -> None:
        source = _LINEAR + "def get_partitioners():\n    return []\ndef get_quantizer():\n    return None\n"
        self.assert_error("lowering-given-twice model.py:22:1", source, backends=["xnnpack"])
        self.assert_error("lowering-given-twice model.py:24:1", source, quantize="xnnpack_int8")

    def test_planning_given_twice(self) -> None:
        source = _LINEAR + "def get_memory_planning_pass():\n    return None\n"
        self.assert_error("lowering-given-twice model.py:22:1", source, alloc_graph_input=False)

    def test_wrong_returns(self) -> None:
        for function, value, quantize in (
            ("get_partitioners", "torch.nn.Linear", ""),
            ("get_partitioners", "[1]", ""),
            ("get_aten_passes", "[None]", ""),
            ("get_edge_compile_config", "{}", ""),
            ("get_edge_passes", "[None]", ""),
            ("get_memory_planning_pass", "None", ""),
            ("get_memory_planning_pass", "_Pass(share_mutable_buffers=True)", ""),
            ("get_memory_planning_pass", "_Pass(alloc_mutable_buffers=False)", ""),
            ("get_quantizer", "3", ""),
            ("get_calibration_inputs", "[]", "xnnpack_int8"),
            ("get_calibration_inputs", "[(torch.ones(2),)]", "xnnpack_int8"),
        ):
            with self.subTest(function, value=value):
                source = f"{_LINEAR}def {function}():\n    return {value}\n"
                source += "from executorch.exir.passes import MemoryPlanningPass as _Pass\n"
                self.assert_error("wrong-return-value model.py:22:1", source, quantize=quantize)

    def test_exported_already(self) -> None:
        source = _LINEAR.replace(
            "return Model(), _inputs(1)[0]", "return torch.export.export(Model(), (), _inputs(1)[0])"
        )
        self.assert_error("wrong-return-value model.py:17:1", source, quantize="xnnpack_int8")

    def test_quantizer_that_fails(self) -> None:
        self.assert_error_of_others(
            "user-code-raised",
            "the quantizer of forward() raised ValueError: no such layer",
            _LINEAR
            + textwrap.dedent(
                """
                from torchao.quantization.pt2e.quantizer import Quantizer

                class Failing(Quantizer):
                    def annotate(self, model):
                        raise ValueError("no such layer")
                    def validate(self, model):
                        pass

                def get_quantizer():
                    return Failing()
                """
            ),
        )

    def test_backend_that_fails(self) -> None:
        self.assert_error_of_others(
            "user-code-raised",
            "ExecuTorch's lowering raised ",
            _LINEAR
            + _OWN_BACKEND
            + "First.preprocess = staticmethod(lambda *args: 1 / 0)\n"
            + "def get_partitioners():\n    return [Taking('First', ['relu'])]\n",
        )

    def test_aten_pass_that_fails(self) -> None:
        source = (
            _LINEAR
            + """
def first(exported):
    return exported

def second(exported):
    BODY

def get_aten_passes():
    return [first, second]
"""
        )
        self.assert_error_of_others(
            "user-code-raised",
            "model.py:27:5: error: second() raised ValueError: no such node",
            source.replace("BODY", "raise ValueError('no such node')"),
        )
        self.assert_error(
            "wrong-return-value model.py:26:1", source.replace("BODY", "exported.graph_module.recompile()")
        )

    @mock.patch.dict(os.environ, {"QNN_SDK_ROOT": "", "LD_LIBRARY_PATH": ""})
    def test_qualcomm_without_sdk(self) -> None:
        self.assert_error_of_others(
            "no-qnn-sdk",
            "model.py:17:1: error: the model is lowered to Qualcomm's backend, and there is no SDK: ",
            _LINEAR
            + """
from executorch.backends.qualcomm.partition.qnn_partitioner import QnnPartitioner
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
from executorch.backends.qualcomm.utils.utils import generate_htp_compiler_spec, generate_qnn_executorch_compiler_spec

def get_partitioners():
    options = generate_htp_compiler_spec(use_fp16=True)
    return [QnnPartitioner(generate_qnn_executorch_compiler_spec(QcomChipset.SM8650, options))]
""",
        )

    def test_pass_that_fails(self) -> None:
        self.assert_error_of_others(
            "user-code-raised",
            "    ValueError: no such node",
            _LINEAR
            + textwrap.dedent(
                """
                def _failing(graph_module):
                    raise ValueError("no such node")

                def get_edge_passes():
                    return [_failing]
                """
            ),
        )


if __name__ == "__main__":
    absltest.main()
