"""Tests that the graph passes find in whole models what they are for."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from absl.testing import absltest

_PACKED = "weights of a linear layer packed"
_PADDED = "zeros that a convolution pads itself"
_ATTENTION = "attention kept whole"


class AllPassesTest(absltest.TestCase):
    def _changes(self, model: str) -> Counter[str]:
        """How often each change was made to a model."""
        report = Path(__file__).parent / f"{model}_all_passes.passes.json"
        passes = json.loads(report.read_text())["methods"]["forward"]
        return Counter(change["what"] for one in passes for change in one["changes"])

    def _check(self, model: str, **expected: int) -> None:
        changes = self._changes(model)
        names = {"attention": _ATTENTION, "packed": _PACKED, "padded": _PADDED}
        wanted = {names.get(key, f"{key} done by the layer before it"): count for key, count in expected.items()}
        self.assertEqual({what: changes[what] for what in wanted}, wanted)

    def test_bert(self) -> None:
        # Queries, keys, values, what follows them, and three more layers; words have the weights of the last one.
        self._check("bert_base", attention=1, packed=7, gelu=2)

    def test_vit(self) -> None:
        self._check("vit_s", attention=2, packed=12, gelu=2)

    def test_gpt2(self) -> None:
        self._check("gpt2_small", attention=1, packed=4, gelu_tanh=1)

    def test_mobilenet(self) -> None:
        # Of the zeros, ExecuTorch's own operator takes 47.
        self._check("mobilenet_v2", padded=52, clamp=35)

    def test_resnet(self) -> None:
        # Behind a sum, an activation is no layer's.
        changes = self._changes("resnet18")
        self.assertEqual(changes["clamp done by the layer before it"], 8)


if __name__ == "__main__":
    absltest.main()
