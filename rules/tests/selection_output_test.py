"""What selections that unite others hold, at whatever depth and in whatever order they do."""

from __future__ import annotations

import json
import unittest
from pathlib import Path

import yaml

_HERE = Path(__file__).parent


class SelectionOutputTest(unittest.TestCase):
    def test_union(self) -> None:
        selected = yaml.safe_load((_HERE / "output_united/selected_operators.yaml").read_text())
        self.assertEqual(
            selected["et_kernel_metadata"],
            {
                "aten::_local_scalar_dense": ["default"],
                "aten::add.out": ["v1/5;", "v1/9;"],
                "aten::mul.out": ["default"],
                "aten::sym_size.int": ["default"],
                "my_ops::mul3.out": ["default"],
            },
        )
        asked_by = {name: operator["debug_info"] for name, operator in selected["operators"].items()}
        self.assertEqual(asked_by["aten::add.out"], ["//rules/tests:output_dtypes"])
        self.assertEqual(asked_by["my_ops::mul3.out"], ["//rules/tests:operators.yaml"])

    def test_depth_and_order_do_not_matter(self) -> None:
        united, otherwise = (
            (_HERE / name / "selected_operators.yaml").read_bytes()
            for name in ("output_united", "output_united_otherwise")
        )
        self.assertEqual(united, otherwise)

    def test_matrix(self) -> None:
        matrices = [
            json.loads((_HERE / name / "op_matrix.json").read_text())
            for name in ("output_united", "output_united_otherwise")
        ]
        self.assertEqual(matrices[0]["operators"], matrices[1]["operators"])
        self.assertEqual(
            matrices[0]["operators"]["aten::add.out"],
            {"//rules/tests:output_dtypes": {"dtypes": ["Half", "ComplexFloat"], "kernel_keys": ["v1/5;", "v1/9;"]}},
        )
        sources = ["//rules/tests:operators.yaml", "//rules/tests:output_dtypes", "//rules/tests:output_prim"]
        self.assertEqual(matrices[0]["sources"], sources)
        text = (_HERE / "output_united/op_matrix.txt").read_text()
        self.assertRegex(text, r"(?m)^aten::add.out +- +Half ComplexFloat +-$")

    def test_prim_ops(self) -> None:
        header = (_HERE / "output_united/selected_prim_ops.h").read_text()
        for guard in ("INCLUDE_ATEN_LOCAL_SCALAR_DENSE", "INCLUDE_ATEN_SYM_SIZE_INT"):
            self.assertIn(f"#define {guard}\n", header)
        self.assertEqual(header.count("#define INCLUDE_"), 2)


if __name__ == "__main__":
    unittest.main()
