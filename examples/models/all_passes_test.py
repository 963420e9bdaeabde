"""Tests that the graph passes find in whole models what they are for."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from absl.testing import absltest

_PACKED = "weights of a linear layer packed"
_TABLE = "embedding of a linear layer's packed weights"
_NORM = "an RMS norm made one call"
_PADDED = "zeros that a convolution pads itself"
_ATTENTION = "attention kept whole"
_FUSED = "rules_executorch::fused_convolution of channels-last tensors"


class AllPassesTest(absltest.TestCase):
    def _changes(self, model: str) -> Counter[str]:
        """How often each change was made to a model."""
        report = Path(__file__).parent / f"{model}_all_passes.passes.json"
        passes = json.loads(report.read_text())["methods"]["forward"]
        return Counter(change["what"] for one in passes for change in one["changes"])

    def _check(self, model: str, **expected: int) -> None:
        changes = self._changes(model)
        names = {"attention": _ATTENTION, "norms": _NORM, "packed": _PACKED, "padded": _PADDED, "table": _TABLE}
        wanted = {names.get(key, f"{key} done by the layer before it"): count for key, count in expected.items()}
        self.assertEqual({what: changes[what] for what in wanted}, wanted)

    def test_bert(self) -> None:
        # Queries, keys, values, what follows them, and four more layers; words have the weights of the last one.
        self._check("bert_base", attention=1, packed=8, table=1, gelu=2)

    def test_vit(self) -> None:
        self._check("vit_s", attention=2, packed=12, gelu=2)

    def test_gpt2(self) -> None:
        self._check("gpt2_small", attention=1, packed=5, table=1, gelu_tanh=1)

    def test_llama(self) -> None:
        self._check("tiny_llama", norms=5)
        self._check("qwen2_dynamic", norms=3, packed=8, table=1)

    def test_half_precision(self) -> None:
        # Of queries and keys, and before and after attention and the feed-forward layers of both blocks.
        self._check("gemma3_bfloat16", norms=13, packed=15, table=1, gelu_tanh=2)
        self._check("clip_half", packed=14)

    def test_mobilenet(self) -> None:
        # Of the zeros, ExecuTorch's own operator takes 47.
        for model in ("mobilenet_v2", "mobilenet_v2_bfloat16"):
            self._check(model, padded=52, clamp=35)
            self._check_convolutions(model, layers=52, copies=1, addends=10)

    def test_efficientnet(self) -> None:
        # Copies are for means: each of the 16 blocks weighs its channels by theirs, and the last layer takes them.
        self._check("efficientnet_b0", padded=5, silu=49, sigmoid=16)
        self._check_convolutions("efficientnet_b0", layers=81, copies=17, addends=9)

    def test_resnet(self) -> None:
        for model in ("resnet18", "resnet18_half"):
            self._check(model, clamp=15)
            self._check_convolutions(model, layers=18, copies=1, addends=7)
        # In float32, of the layers of 64, 128 and 256 channels.
        self.assertEqual(self._changes("resnet18")["multiplied in tiles of 4 by 4"], 10)

    def test_lstm(self) -> None:
        self.assertEqual(self._changes("lstm")["aten::lstm kept whole, with packed weights"], 1)

    def test_unet(self) -> None:
        # Three layers are transposed convolutions. The only copy is the result's.
        self._check_convolutions("unet", layers=18, copies=1, addends=0)

    def _check_convolutions(self, model: str, *, layers: int, copies: int, addends: int) -> None:
        changes = self._changes(model)
        self.assertEqual(changes["aten::convolution of channels-last tensors"] + changes[_FUSED], layers)
        self.assertEqual(changes["copied from channels-last"] + changes["copied to channels-last"], copies)
        self.assertEqual(changes["done by the convolution before it"], addends)


if __name__ == "__main__":
    absltest.main()
