"""ExecuTorch's own partitioner, builder and quantizer on the example, with a stand-in for the manager.

The manager needs an SDK. The test shows that the operators are tagged and delegated once the backend takes their nodes;
nothing is compiled for an HTP.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import torch
from absl.testing import absltest
from examples.qnn_op_package.example_op_package import op_package_options
from executorch.backends.qualcomm.builders.node_visitor import QNN_QUANT_TYPE_MAP, QNN_TENSOR_TYPE_MAP
from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
from executorch.backends.qualcomm.serialization.qc_schema_serialize import flatbuffer_to_option
from executorch.backends.qualcomm.utils import utils
from executorch.exir import EdgeProgramManager
from qnn.tests.relu_package import op_package_options as options_of_relu
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from diagnostics.errors import InputError
from examples.qnn_op_package import model, quantization
from export.exporter import export
from qnn.checks import delegation, operator_schema
from qnn.testing.op_package import Package, Quantized
from qnn.testing.stand_in_manager import Node, StandInManager, installed

_HERE = Path(__file__).absolute().parent
_TAKES_ALL = {"ExampleCustomOp": True, "ScaledHalves": True}
_MUL3 = Node("ExampleOpPackage", "ExampleCustomOp", 1, 1, ())
_HALVES = Node("ExampleOpPackage", "ScaledHalves", 1, 2, ("factor",))


class _WithDefault(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.my_ops.shifted(x) + torch.ops.my_ops.mul3(x)


class _Without(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


class _Relu(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.relu(x), torch.sigmoid(x)


def _computed_by_package(node: Node, x: torch.Tensor, quantized: torch.fx.GraphModule | None) -> torch.Tensor:
    """What the op of a delegated node computes, in floats; with the scales of a quantized model if there is one."""
    package = Package(_HERE / f"stand_in_relu.x86_64/libQnn{node.package}.so", node.package)
    assert package.validate(node.package, node.op_type, node.inputs, node.outputs, node.params)
    if quantized is None:
        out = torch.empty_like(x)
        assert package.run(node.op_type, [out], [x], {}) == 0
        return out
    (relu,) = (each for each in quantized.graph.nodes if each.target == torch.ops.aten.relu.default)
    (in_scale, in_zero), (out_scale, out_zero) = (each.args[1:3] for each in (relu.args[0], *relu.users))
    in_values = torch.quantize_per_tensor(x, in_scale, in_zero, torch.quint8).int_repr()
    out_values = Quantized(torch.empty(x.shape, dtype=torch.uint8), out_scale, out_zero)
    assert package.run(node.op_type, [out_values], [Quantized(in_values, in_scale, in_zero)], {}) == 0
    return out_scale * (out_values.values.float() - out_zero)


def _is_close(expected: torch.Tensor, computed: torch.Tensor) -> bool:
    """How ExecuTorch's script compares a device's output with PyTorch's."""
    return bool(torch.all(torch.isclose(expected, computed, atol=1e-2)))


class StandInDelegationTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.assertIn("QNN_SDK_ROOT", os.environ, "unset, the backend downloads an SDK")
        self.specs = utils.generate_qnn_executorch_compiler_spec(
            soc_model=QcomChipset.SM8650,
            backend_options=utils.generate_htp_compiler_spec(use_fp16=True),
            op_package_options=op_package_options(),
        )
        self.packages = delegation.operators(self.specs)

    def lower(
        self,
        module: torch.nn.Module,
        takes: Mapping[str, bool] = _TAKES_ALL,
        inputs: tuple[torch.Tensor, ...] = model.get_model()[1],
    ) -> tuple[StandInManager, EdgeProgramManager, list[str]]:
        with delegation.listening() as messages, installed(StandInManager(takes)) as manager:
            edge = utils.to_edge_transform_and_lower_to_qnn(module, inputs, self.specs)
        return manager, edge, messages

    def check(self, edge: EdgeProgramManager, messages: list[str]) -> str:
        """What the check finds; nothing if all is well."""
        try:
            delegation.check({"forward": edge.exported_program()}, self.packages, messages, "//a:b")
        except InputError as error:
            self.assertEqual({finding.id for finding in error.findings}, {"not-delegated"})
            return str(error)
        return ""

    def test_compile_spec_and_back(self) -> None:
        """ExecuTorch's serializer writes the options into a compile spec, and reads the same ones out of it."""
        (spec,) = self.specs
        self.assertEqual(flatbuffer_to_option(spec.value).op_package_options, op_package_options())

    def test_operators_of_the_compile_spec(self) -> None:
        self.assertEqual(
            self.packages,
            {"my_ops.mul3.default": "ExampleOpPackage", "my_ops.scaled_halves.default": "ExampleOpPackage"},
        )

    def test_datatypes_are_those_of_the_builder(self) -> None:
        for type_, name in ((bool, "bool"), (int, "int"), (float, "float")):
            self.assertEqual(operator_schema.PARAMETER_DATATYPES[name], (QNN_TENSOR_TYPE_MAP[type_].name,))
        given = {datatype.name for datatype in (*QNN_TENSOR_TYPE_MAP.values(), *QNN_QUANT_TYPE_MAP.values())}
        self.assertEqual(operator_schema.TENSOR_DATATYPES, given - {"QNN_DATATYPE_UNDEFINED"})

    def test_delegated(self) -> None:
        manager, edge, messages = self.lower(model.get_model()[0])
        for node in (_MUL3, _HALVES):
            self.assertIn(node, manager.asked)
            self.assertIn(node, manager.compiled)
        targets = [str(node.target) for node in edge.exported_program().graph.nodes]
        self.assertIn("executorch_call_delegate", targets)
        self.assertFalse([target for target in targets if "my_ops" in target])
        self.assertEqual(self.check(edge, messages), "")

    def test_refused_by_the_backend(self) -> None:
        manager, edge, messages = self.lower(model.get_model()[0], _TAKES_ALL | {"ExampleCustomOp": False})
        self.assertNotIn(_MUL3, manager.compiled)
        found = self.check(edge, messages)
        self.assertIn("//a:b: error: forward() calls my_ops.mul3.default outside of the delegate, though", found)
        self.assertIn("the backend said: [QnnPartitioner] my_ops.mul3.default | False", found)
        self.assertNotIn("scaled_halves.default outside", found)

    def test_default_that_export_drops(self) -> None:
        library = torch.library.Library("my_ops", "FRAGMENT")
        library.define("shifted(Tensor input, float by=1.0) -> Tensor")
        library.impl("shifted", lambda input, by=1.0: input + by, "CompositeExplicitAutograd")
        self.packages["my_ops.shifted.default"] = "ExampleOpPackage"
        options = op_package_options()
        options.op_package_infos[0].custom_op_name = "my_ops.shifted.default"
        self.specs = utils.generate_qnn_executorch_compiler_spec(
            soc_model=QcomChipset.SM8650,
            backend_options=utils.generate_htp_compiler_spec(use_fp16=True),
            op_package_options=options,
        )
        _, edge, messages = self.lower(_WithDefault())
        found = self.check(edge, messages)
        self.assertIn("forward() calls my_ops.shifted.default outside of the delegate", found)
        self.assertIn("Likely cause: a call passes the default of an argument", found)

    def test_in_place_of_a_built_in_operator(self) -> None:
        """The package computes aten::relu, and no other op of the backend; its library computes what PyTorch does."""
        x = torch.rand(1, 2, 4, 8) * 2 - 1
        for quantized in (False, True):
            with self.subTest(quantized=quantized):
                converted: torch.fx.GraphModule | None = None
                if quantized:
                    exported = torch.export.export(_Relu(), (x,), strict=True).module()
                    prepared = prepare_pt2e(exported, quantization.make_quantizer())
                    prepared(x)
                    converted = convert_pt2e(prepared)
                self.specs = utils.generate_qnn_executorch_compiler_spec(
                    soc_model=QcomChipset.SM8650,
                    backend_options=utils.generate_htp_compiler_spec(use_fp16=not quantized),
                    op_package_options=options_of_relu(),
                )
                self.packages = delegation.operators(self.specs)
                manager, edge, messages = self.lower(converted or _Relu(), {"MyRelu": True}, (x,))
                (node,) = (node for node in manager.compiled if node.package == "ReluPackage")
                self.assertEqual(node, Node("ReluPackage", "MyRelu", 1, 1, ()))
                built_in = [node.op_type for node in manager.compiled if node.package == "qti.aisw"]
                self.assertIn("Sigmoid", built_in)
                self.assertNotIn("Relu", built_in)
                self.assertEqual(self.check(edge, messages), "")
                computed = _computed_by_package(node, x, converted)
                self.assertTrue(_is_close(torch.relu(x), computed))
                self.assertFalse(_is_close(x, computed), "the comparison tells a copy from a ReLU")

    def test_model_without_the_operators(self) -> None:
        _, edge, messages = self.lower(_Without())
        self.assertIn("the model calls no operator of the op package ExampleOpPackage", self.check(edge, messages))

    def test_program(self) -> None:
        """executorch_program with a model file whose partitioner is Qualcomm's, and whose quantizer is annotated."""
        report = json.loads((_HERE / "stand_in_program.delegation.json").read_text())
        (delegate,) = report["methods"]["forward"]["delegates"]
        self.assertEqual(delegate["backend"], "QnnBackend")
        self.assertEqual(report["methods"]["forward"]["remaining"], [])
        for name in ("my_ops::mul3", "my_ops::scaled_halves"):
            self.assertEqual(delegate["operators"][name], 1)
        self.assertIn(b"made by a stand-in", (_HERE / "stand_in_program.pte").read_bytes())

    def test_export_fails_where_an_operator_is_left_out(self) -> None:
        text = (_HERE / "stand_in_model.py").read_text().replace('"ExampleCustomOp": True', '"ExampleCustomOp": False')
        text = text.replace("op_package_options()", f"op_package_options(host_dir={str(_HERE / 'stand_in.x86_64')!r})")
        model_file = self.create_tempfile("model.py", text).full_path
        with self.assertRaises(InputError) as caught:
            export(Path(model_file))
        self.assertEqual(caught.exception.findings[0].id, "not-delegated")
        self.assertIn("forward() calls my_ops.mul3.default outside of the delegate", str(caught.exception))

    def test_quantizer_with_a_custom_annotation(self) -> None:
        module, inputs = model.get_model()
        exported = torch.export.export(module, inputs, strict=True).module()
        prepared = prepare_pt2e(exported, quantization.make_quantizer())
        prepared(*inputs)
        converted = convert_pt2e(prepared)
        (mul3,) = (node for node in converted.graph.nodes if node.target == torch.ops.my_ops.mul3.default)
        self.assertIn("dequantize_per_tensor", str(mul3.args[0].target))
        (user,) = mul3.users
        self.assertIn("quantize_per_tensor", str(user.target))
        self.assertIn(torch.uint8, user.args)
        for actual, expected in zip(converted(*inputs), module(*inputs), strict=True):
            step = (expected.max() - expected.min()) / 255
            self.assertLess(float((actual - expected).abs().max()), float(6 * step))


if __name__ == "__main__":
    os.chdir(tempfile.mkdtemp())  # The backend leaves files where it runs.
    absltest.main()
