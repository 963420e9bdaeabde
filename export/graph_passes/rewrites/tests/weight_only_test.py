"""Tests of the pass weight_only."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from absl.testing import absltest
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

from export.graph_passes import packing, passes
from export.graph_passes.calls import (
    WeightOnlyLinear,
)
from export.graph_passes.tests.pass_test_case import (
    ROUNDED,
    PassTestCase,
    model_by_torchao,
    model_file,
)


class WeightOnlyTest(PassTestCase):
    _CALL = "rules_executorch::weight_only_linear.out"

    def test_acts(self) -> None:
        for config, bits in (
            ("IntxWeightOnlyConfig(torch.int4, PerGroup(32))", 4),
            ("IntxWeightOnlyConfig(torch.int4, PerAxis(0))", 4),
            ("IntxWeightOnlyConfig(torch.int4, PerGroup(16))", 8),
            ("IntxWeightOnlyConfig(torch.int8, PerGroup(64))", 8),
            ("IntxWeightOnlyConfig(torch.int8, PerAxis(0))", 8),
        ):
            for dtype in ("torch.float32", "torch.bfloat16"):
                exported = self.export(model_by_torchao(config, dtype=dtype), ["weight_only"])
                self.assertEqual(self.calls(exported), [self._CALL])
                self.assertEqual(
                    self.changes(exported, "weight_only"), [f"a linear layer with weights of {bits} bits"], config
                )

    def test_acts_on_scaled_products(self) -> None:
        """torchao's own weights of 8 bits are floats before a product, whose columns have the scales."""
        for x, dtype in (
            ("torch.rand(1, 128)", "torch.float32"),
            ("torch.rand(2, 3, 128)", "torch.float32"),
            ("torch.rand(2, 3, 128)", "torch.float16"),
            ("torch.rand(1, 128)", "torch.bfloat16"),
        ):
            source = model_by_torchao("Int8WeightOnlyConfig()", x=x, dtype=dtype)
            exported = self.export(source, ["constants", "no_ops", "weight_only"])
            self.assertEqual(self.changes(exported, "weight_only"), ["a linear layer with weights of 8 bits"])
            self.assertNotIn("aten::add.out", self.calls(exported))
            self.assertLess(len(exported.pte), 1.5 * 128 * 160)

    def test_values(self) -> None:
        for config, x in itertools.product(
            ("Int8WeightOnlyConfig()", "IntxWeightOnlyConfig(torch.int4, PerGroup(32))"),
            ("torch.randn(5, 128)", "torch.randn(2, 3, 128)"),
        ):
            source: dict[str, Any] = {}
            exec(model_by_torchao(config, x=x), source)
            self.check_graph(*source["get_model"](), "constants", "weight_only")
            for dtype, tolerance in ROUNDED.items():
                exec(model_by_torchao(config, x=x, dtype=dtype), source)
                self.check_graph(*source["get_model"](), "constants", "weight_only", tolerance=tolerance)

    def test_leaves_other_products(self) -> None:
        for forward in (
            "return x @ self.weight.float()",
            "return (x @ self.weight.float()) * x.sum()",
            "return (x @ self.weight.float()) * self.scale[:, None]",
            "return (x @ self.weight.float()) * self.factor",
        ):
            init = "self.register_buffer('weight', torch.ones(300, 300, dtype=torch.int8))"
            init += "\nself.scale = torch.nn.Parameter(torch.rand(300))"
            init += "\nself.factor = torch.nn.Parameter(torch.tensor(2.0))"
            exported = self.export(model_file(forward, "torch.rand(300, 300)", init=init), ["weight_only"])
            self.assertEqual(self.changes(exported, "weight_only"), [])

    def test_operator(self) -> None:
        own = WeightOnlyLinear.overload()
        weight = torch.randint(-8, 8, (6, 64)).to(torch.int8)
        x, scale, bias = torch.randn(3, 64), torch.rand(6, 2), torch.randn(6)
        expected = torch.nn.functional.linear(x, weight * scale.repeat_interleave(32, 1), bias)
        for given in (weight, packing.pack_nibbles(weight)):
            torch.testing.assert_close(own(x, given, scale, bias), expected)

    def test_leaves_computed_zero_points(self) -> None:
        """A weight is symmetric only if its zero points are known to be zeros."""
        init = """
        self.register_buffer("weight", torch.randint(-8, 8, (20, 64)).to(torch.int8))
        self.register_buffer("scale", torch.rand(20, 2))
        self.register_buffer("zeros", torch.zeros(20, 2, dtype=torch.int8))
        """
        for zero_point, changes in (
            ("self.zeros", ["a linear layer with weights of 4 bits"]),
            ("self.zeros + 1", []),
            ("self.scale.mul(x[0, 0]).to(torch.int8)", []),
        ):
            forward = f"""
            from torchao.quantization.quant_primitives import dequantize_affine
            weight = dequantize_affine(self.weight, (1, 32), self.scale, {zero_point}, torch.int8, -8, 7)
            return torch.nn.functional.linear(x, weight)
            """
            source: dict[str, Any] = {}
            exec(model_file(forward, "torch.rand(3, 64) * 9.0", init=init), source)
            module, inputs = source["get_model"]()
            edge = to_edge_transform_and_lower(
                torch.export.export(module, inputs),
                compile_config=EdgeCompileConfig(
                    _check_ir_validity=False, preserve_ops=[torch.ops.aten.linear.default]
                ),
            )
            program = edge.exported_program()
            *_, found = [passes.apply(one, program) for one in passes.select(["constants", "weight_only"])]
            self.assertEqual([change.what for change in found], changes, zero_point)
            torch.testing.assert_close(program.module()(*inputs), module(*inputs), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    absltest.main()
