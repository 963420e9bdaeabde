"""Tests of the pass dynamic_linear."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from absl.testing import absltest

from export.graph_passes import packing
from export.graph_passes.tests.pass_test_case import (
    ROUNDED,
    PassTestCase,
    model_by_torchao,
)


class DynamicLinearTest(PassTestCase):
    _CALL = "rules_executorch::dynamic_linear.out"
    _CONFIGS = (
        ("Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(32))", 4),
        ("Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerAxis(0))", 4),
        ("Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int8, weight_granularity=PerGroup(64))", 8),
        ("Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int8, weight_granularity=PerAxis(0))", 8),
        ("Int8DynamicActivationInt8WeightConfig()", 8),
    )

    def test_acts(self) -> None:
        for config, bits in self._CONFIGS:
            with self.subTest(config):
                for dtype in ("torch.float32", "torch.bfloat16"):
                    exported = self.export(model_by_torchao(config, x="torch.rand(2, 3, 128)", dtype=dtype), ["all"])
                    self.assertEqual(
                        self.changes(exported, "dynamic_linear"),
                        [f"a linear layer of quantized rows and weights of {bits} bits"],
                    )
                    self.assertEqual(set(self.calls(exported)) - {"aten::view_copy.out"}, {self._CALL})
                    self.assertLess(len(exported.pte), 1.4 * 128 * 160 * bits / 8 + 8000)

    def test_values(self) -> None:
        """As torchao calculates, but for the order of sums, and what torchao rounds to fewer bits."""
        shapes = itertools.cycle(("5, 128", "2, 3, 128"))
        for config, _ in self._CONFIGS:
            for dtype, tolerance in {"torch.float32": 1e-4, **ROUNDED}.items():
                source: dict[str, Any] = {}
                exec(model_by_torchao(config, x=f"torch.randn({next(shapes)})", dtype=dtype), source)
                self.check_graph(*source["get_model"](), "constants", "dynamic_linear", tolerance=tolerance)

    def test_layouts(self) -> None:
        for bits, columns, groups in ((4, 64, 2), (8, 64, 2), (4, 50, 1), (8, 50, 1)):
            weight = torch.randint(-(2 ** (bits - 1)), 2 ** (bits - 1), (22, columns)).to(torch.int8)
            scale = torch.rand(22, groups)
            panels = packing.panels_of_dynamic_rows(weight, bits)
            self.assertTrue(torch.equal(packing.rows_of_dynamic_panels(panels, 22, columns), weight))
            self.assertTrue(torch.equal(packing.columns_of_panels(packing.panels_of_columns(scale), 22), scale))


if __name__ == "__main__":
    absltest.main()
