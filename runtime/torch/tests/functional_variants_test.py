"""Tests exports with functional operators of a model file and a library with their out variants."""

from __future__ import annotations

from pathlib import Path

import torch
from absl.testing import absltest

from diagnostics.errors import InputError
from export.exporter import export

_MODEL = """
import torch
library = torch.library.Library("{namespace}", "{kind}")
def define(name):
    library.define(name + "(Tensor x) -> Tensor")
    library.impl(name, lambda x: x + 1, "CompositeExplicitAutograd")
{define}
class Model(torch.nn.Module):
    def forward(self, x):
        return {forward}
def get_model():
    return Model(), (torch.ones(2),)
"""


class FunctionalVariantsTest(absltest.TestCase):
    def _export(self, namespace: str, define: str, forward: str, kind: str = "DEF") -> bytes:
        text = _MODEL.format(namespace=namespace, kind=kind, define=define, forward=forward)
        model = self.create_tempfile("model.py", text)
        program = export(Path(model.full_path)).pte
        return program

    def test_derived(self) -> None:
        """Tests that an existing operator is not derived, and that a second definition fails with advice."""
        program = self._export(
            "derived", 'define("before")\nimport runtime.torch.tests.derived', "torch.ops.derived.before(x)"
        )
        self.assertIn(b"derived::before", program)
        with self.assertRaises(InputError) as caught:
            self._export("derived", 'define("after")', "torch.ops.derived.after(x)", kind="FRAGMENT")
        message = str(caught.exception)
        for part in (
            "model.py:5:5: error: running the model file defines derived::after, which //runtime/torch/tests:derived "
            "has derived from the operator's out variant; PyTorch lets an operator be defined once\n",
            "model.py:7, in <module>",
            "Fix: set custom_ops_functional_variants = False in //runtime/torch/tests:derived, or",
            "#derived-operator",
        ):
            self.assertIn(part, message)

    def test_left_out(self) -> None:
        """Tests that both orders work with custom_ops_functional_variants = False."""
        self.assertFalse(hasattr(torch.ops.left_out, "after"))
        program = self._export(
            "left_out",
            'define("before")\nimport runtime.torch.tests.left_out\ndefine("after")',
            "torch.ops.left_out.after(torch.ops.left_out.before(x))",
        )
        for name in (b"left_out::before", b"left_out::after"):
            self.assertIn(name, program)


if __name__ == "__main__":
    absltest.main()
