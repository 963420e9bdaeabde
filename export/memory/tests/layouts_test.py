"""Tests of the copies for dim orders, and of the dim orders that the memory plan gets."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from absl.testing import absltest

from codegen.inputs import program_reader
from export.emulator.tests.kinds import KINDS, Kind
from export.exporter import export
from export.user.dense_tensors import usual_dim_order

_ANY_SIZES = """

def get_dynamic_shapes():
    return ({0: torch.export.Dim.AUTO(max=9), 1: torch.export.Dim.AUTO(max=9)},)
"""
_COPY = "dim_order_ops::_to_dim_order_copy.out"


class LayoutsTest(absltest.TestCase):
    def has_copies(self, kind: str) -> bool:
        """Whether the program of a kind copies to another dim order."""
        folder = Path(self.create_tempdir().full_path)
        (folder / "model.py").write_text(KINDS[kind].source())
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            exported = export(folder / "model.py")
        (folder / "model.pte").write_bytes(exported.pte)
        return _COPY in program_reader.read(str(folder / "model.pte"), "model").calls

    def test_copies(self) -> None:
        for kind in ("pixel_shuffle of a channels-last input", "patches of a channels-last input"):
            self.assertTrue(self.has_copies(kind), kind)

    def test_no_copies_of_contiguous_memory(self) -> None:
        for kind in ("one channel, a head", "LayerNorm before a convolution", "the new value", "a delay line"):
            self.assertFalse(self.has_copies(kind), kind)

    def test_views_with_larger_bounds(self) -> None:
        """A view has the elements of its tensor, but the bounds of its sizes may need more memory."""
        kind = Kind(
            "y = torch.nn.functional.pixel_unshuffle(x0, 2)\nz = self.s + y\nself.s.copy_(y)\nreturn z.mean(1)",
            ("torch.randn(2, 8, 8, 8)",),
            'self.register_buffer("s", torch.zeros(2, 32, 4, 4))',
        )
        sizes = "{i: torch.export.Dim.AUTO(max=24) for i in range(4)}"
        model = Path(self.create_tempdir().full_path) / "model.py"
        model.write_text(kind.source() + f"\n\ndef get_dynamic_shapes():\n    return ({sizes},)\n")
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            exported = export(model, graph_passes=["default"], strict_passes=True)
        self.assertEqual(exported.checked["forward"].left_out, "")

    def test_sizes_that_a_buffer_fixes(self) -> None:
        """Sizes that have one value are numbers after graph passes, in branches and loops as in the outermost graph."""
        for inner in (
            "from torch._higher_order_ops.map import map\ninner = lambda v: map(lambda w: w * 2, v)\n",
            "inner = lambda v: torch.cond(v.sum() > 1, lambda w: w * 3, lambda w: w * 2, (v,))\n",
        ):
            with self.subTest(inner):
                kind = Kind(
                    f"{inner}y = torch.cond(x0.sum() > 0, inner, lambda v: v * 2, (x0,))\n"
                    "z = inner(y)\nw = self.s.flatten() * 2\nself.s.copy_(z)\nreturn z + y, w, self.s * 1",
                    ("torch.randn(2, 4)",),
                    'self.register_buffer("s", torch.zeros(2, 4))',
                )
                model = Path(self.create_tempdir().full_path) / "model.py"
                model.write_text(kind.source() + _ANY_SIZES)
                with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
                    exported = export(model, graph_passes=["default"], strict_passes=True)
                self.assertEqual(exported.checked["forward"].samples, 3)

    def test_usual_dim_order(self) -> None:
        cases: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...] = (
            ((1, 1, 9, 9), (0, 2, 1, 3), (0, 1, 2, 3)),
            ((2, 1, 3, 4), (0, 2, 3, 1), (0, 1, 2, 3)),
            ((2, 8, 1, 1), (0, 2, 3, 1), (0, 1, 2, 3)),
            ((2, 8, 1, 5), (2, 0, 3, 1), (0, 2, 3, 1)),
            ((2, 8, 3, 5), (0, 2, 3, 1), (0, 2, 3, 1)),
            ((2, 8, 3, 5), (0, 3, 2, 1), (0, 3, 2, 1)),
            ((2, 8, 3), (0, 2, 1), (0, 2, 1)),
            ((2, 1, 3), (0, 2, 1), (0, 1, 2)),
            ((), (), ()),
        )
        for sizes, order, expected in cases:
            self.assertEqual(usual_dim_order(sizes, order), expected)


if __name__ == "__main__":
    absltest.main()
