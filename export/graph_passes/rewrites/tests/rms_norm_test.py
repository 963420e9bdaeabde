"""Tests of the pass rms_norm."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from absl.testing import absltest
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

from export.graph_passes import passes
from export.graph_passes.calls import (
    RmsNorm,
)
from export.graph_passes.tests.pass_test_case import (
    RMS_NORM_OUT,
    PassTestCase,
    model_file,
)

# As transformers' LlamaRMSNorm, Gemma3RMSNorm and T5LayerNorm have it.
_LLAMA_NORM = """
y = x.to(torch.float32)
y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
return self.weight * y.to(x.dtype)
"""
_GEMMA_NORM = """
y = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)
return (y * (1.0 + self.weight.float())).type_as(x)
"""
_T5_NORM = """
y = x * torch.rsqrt(x.to(torch.float32).pow(2).mean(-1, keepdim=True) + 1e-5)
return self.weight * y.to(self.weight.dtype)
"""


class RmsNormTest(PassTestCase):
    _DTYPES = ("torch.float32", "torch.float16", "torch.bfloat16")

    def _source(self, forward: str, dtype: str = "torch.float32", shape: str = "2, 3, 8", weight: str = "8") -> str:
        init = f"self.weight = torch.nn.Parameter(torch.rand({weight}, dtype={dtype}))"
        return model_file(forward, f"torch.rand({shape}, dtype={dtype})", init=init)

    def _check_acts(self, source: str) -> None:
        exported = self.export(source, ["constants", "rms_norm"])
        self.assertEqual(self.calls(exported), [RMS_NORM_OUT])
        self.assertEqual(self.changes(exported, "rms_norm"), ["an RMS norm made one call"])

    def test_acts_on_pytorchs(self) -> None:
        whole = "return torch.nn.functional.rms_norm(x, ({}), {}, 1e-5)"
        for dtype in self._DTYPES:
            self._check_acts(self._source(whole.format("8,", "self.weight"), dtype))
        self._check_acts(self._source(whole.format("8,", "None")))
        self._check_acts(self._source(whole.format("3, 8", "self.weight"), weight="3, 8"))
        # PyTorch's own epsilon.
        self._check_acts(self._source("return torch.nn.functional.rms_norm(x, (8,), self.weight)"))

    def test_acts_on_those_written_out(self) -> None:
        for forward in (_LLAMA_NORM, _GEMMA_NORM, _T5_NORM):
            with self.subTest(forward):
                self._check_acts(self._source(forward, "torch.bfloat16"))
        for forward in (
            "return x * (x.pow(2).mean(-1, keepdim=True) + 1e-5).pow(-0.5) * self.weight",
            "return torch.rsqrt(1e-5 + (x * x).mean(2, keepdim=True)) * x * self.weight",
            "return x * torch.rsqrt(x.square().mean((1, 2), keepdim=True) + 1e-5)",
        ):
            with self.subTest(forward):
                self._check_acts(self._source(forward))

    def test_leaves_other_calls(self) -> None:
        """What is no norm stays; a norm's neighbors do."""
        for forward in (
            "return x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + 1e-5)",  # Not the last dimension.
            "return x * torch.rsqrt(x.pow(3).mean(2, keepdim=True) + 1e-5)",
            "return x * torch.rsqrt(x.mean(2, keepdim=True) + 1e-5)",
            "return self.weight * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-5)",
            "return x * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + x)",
            "return x * (x.pow(2).mean(2, keepdim=True) + 1e-5).pow(-0.25)",
            "y = torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-5)\nreturn x * y, y",
        ):
            with self.subTest(forward):
                exported = self.export(self._source(forward), ["rms_norm"])
                self.assertEqual(self.changes(exported, "rms_norm"), [])
                self.check_values(exported)
        norm = "x * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-5)"
        for forward in (
            f"y = {norm}\nreturn y * y",
            f"return {norm} * x",
            f"y = {norm}\nreturn y * self.weight + y",
            f"return {norm} * self.weight.unsqueeze(0)",  # Shapes of more dimensions are no weights.
        ):
            with self.subTest(forward):
                calls = self.calls(self.export(self._source(forward), ["constants", "rms_norm"]))
                self.assertIn(RMS_NORM_OUT, calls)
                self.assertIn("aten::mul.out", calls)

    def test_keeps_results_of_float32(self) -> None:
        forward = "y = x.float()\nreturn y * torch.rsqrt(y.pow(2).mean(2, keepdim=True) + 1e-5) * self.weight.float()"
        exported = self.export(self._source(forward, "torch.bfloat16"), ["constants", "rms_norm"])
        self.assertEqual(self.calls(exported), ["dim_order_ops::_to_dim_order_copy.out", RMS_NORM_OUT])

    def test_values(self) -> None:
        for dtype, forward in itertools.product(self._DTYPES, (_LLAMA_NORM, _GEMMA_NORM, _T5_NORM)):
            source: dict[str, Any] = {}
            exec(self._source(forward, dtype), source)
            module, inputs = source["get_model"]()
            inputs = (inputs[0] * 9 - 4,)
            edge = to_edge_transform_and_lower(
                torch.export.export(module, inputs), compile_config=EdgeCompileConfig(_check_ir_validity=False)
            )
            program = edge.exported_program()
            for one in passes.select(["constants", "rms_norm"]):
                passes.apply(one, program)
            # Of bfloat16, one step more: PyTorch's result is rounded before the weight.
            tolerance = {torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}[inputs[0].dtype]
            # The mean of the smaller one's squares is about the number that is added to it.
            for x in (inputs[0], inputs[0] * 1e-3):
                torch.testing.assert_close(program.module()(x), module(x), rtol=tolerance, atol=1e-5)

    def test_operator(self) -> None:
        operator = RmsNorm.overload()
        for dtype in (torch.float32, torch.bfloat16):
            x, weight = torch.randn(2, 3, 8).to(dtype), torch.rand(3, 8).to(dtype)
            expected = torch.nn.functional.rms_norm(x, (3, 8), weight, 1e-5)
            torch.testing.assert_close(operator(x, weight, 2, 1e-5), expected)
        self.assertEqual(torch.ops.rules_executorch.rms_norm.out._schema.name, operator.name())


if __name__ == "__main__":
    absltest.main()
