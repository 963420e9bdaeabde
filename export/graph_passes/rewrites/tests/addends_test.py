"""Tests of the pass addends."""

from __future__ import annotations

from absl.testing import absltest

from export.graph_passes.tests.pass_test_case import (
    PassTestCase,
    model_file,
)


class AddendsTest(PassTestCase):
    _NAMES = ("channels_last", "addends", "activations")
    _INIT = "self.a = torch.nn.Conv2d(3, 32, 3)\nself.b = torch.nn.Conv2d(32, 32, 3, padding=1)"

    def _calls(self, forward: str) -> list[str]:
        source = model_file(f"y = self.a(x)\n{forward}", "torch.rand(1, 3, 18, 18)", init=self._INIT)
        return self.calls(self.export(source, self._NAMES))

    def test_acts(self) -> None:
        for forward in ("self.b(y) + y", "y + self.b(y)", "torch.relu(y + self.b(y))", "self.b(y) + self.b(y.abs())"):
            with self.subTest(forward):
                calls = self._calls(f"return ({forward}).amax(dim=(2, 3))")
                self.assertNotIn("aten::add.out", calls)
                self.assertNotIn("aten::relu.out", calls)

    def test_leaves(self) -> None:
        for forward in (
            "z = self.b(y)\nreturn (z + y + z.amax()).amax(dim=(2, 3))",  # The sum without the addend is needed, too.
            "return torch.add(self.b(y), y, alpha=2).amax(dim=(2, 3))",
            "return (self.b(y) + y.amax(dim=3, keepdim=True)).amax(dim=(2, 3))",
            "z = self.b(y)\nreturn (z + z).amax(dim=(2, 3))",
        ):
            with self.subTest(forward):
                self.assertIn("aten::add.out", self._calls(forward))


if __name__ == "__main__":
    absltest.main()
