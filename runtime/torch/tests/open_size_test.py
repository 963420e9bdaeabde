"""Tests the export of an operator whose fake calls its kernel, with a dynamic size."""

from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from diagnostics.errors import InputError
from export.exporter import export

_MODEL = """
import runtime.torch.tests.custom_ops_bridge
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.bridge.scale(x, 2.0)

def get_model():
    return Model(), (torch.randn(4, 3),)

def get_dynamic_shapes():
    return ({0: torch.export.Dim("n", max=8)},)
"""
_RULE = """
@torch.library.register_fake("bridge::scale", allow_override=True)
def _(x, by):
    return torch.empty_like(x)
"""


class OpenSizeTest(absltest.TestCase):
    def test_export(self) -> None:
        model = Path(self.create_tempdir().full_path) / "model.py"
        model.write_text(_MODEL)
        with self.assertRaises(InputError) as caught:
            export(model)
        message = str(caught.exception)
        for text in (
            "torch.export of forward() raised",
            "specialized it to be a constant",
            "Likely cause: bridge::scale asks its kernel for the shape of the result",
            '@torch.library.register_fake("bridge::scale", allow_override=True)',
            "See: docs/errors.md#user-code-raised",
        ):
            self.assertIn(text, message)
        model.write_text(_MODEL + _RULE)
        self.assertIn(b"bridge::scale", export(model).pte)


if __name__ == "__main__":
    absltest.main()
