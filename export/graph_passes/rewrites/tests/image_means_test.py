"""Tests of the pass image_means."""

from __future__ import annotations

from absl.testing import absltest

from export.graph_passes.tests.pass_test_case import PACKED_CONVOLUTION_OUT, PassTestCase, model_file

_COPY_OUT = "dim_order_ops::_to_dim_order_copy.out"
_MEAN_OUT = "rules_executorch::image_mean.out"
_INIT = "self.first = torch.nn.Conv2d(32, 64, 3)\nself.last = torch.nn.Conv2d(64, 32, 3)"


def _source(forward: str) -> str:
    return model_file(f"y = self.first(x)\n{forward}", "torch.rand(2, 32, 9, 12)", init=_INIT)


class ImageMeansTest(PassTestCase):
    _NAMES = ("channels_last", "image_means")

    def test_means(self) -> None:
        for mean in (
            "y.mean((2, 3), keepdim=True)",
            "y.mean((-1, 2), keepdim=True)",
            "torch.nn.functional.adaptive_avg_pool2d(y, 1)",
        ):
            with self.subTest(mean):
                exported = self.export(_source(f"return self.last(y * {mean})"), self._NAMES)
                self.assertEqual(self.calls(exported), ["aten::mul.out", _COPY_OUT, _MEAN_OUT, PACKED_CONVOLUTION_OUT])
                self.assertEqual(self.changes(exported, "image_means"), ["a mean of channels-last images"])

    def test_without_dims(self) -> None:
        exported = self.export(_source("return self.last(y), y.mean((2, 3))"), self._NAMES)
        self.assertIn(_MEAN_OUT, self.calls(exported))

    def test_leaves(self) -> None:
        for forward in (
            "return self.last(y) , y.mean((1, 2))",
            "return self.last(y), y.mean(3)",
            "return self.last(y), y.mean()",
            "return self.last(y), y.mean((2, 3), dtype=torch.float64)",
            "return self.last(y), y.transpose(1, 2).mean((2, 3))",
            "return self.last(y), x.mean((2, 3))",
        ):
            with self.subTest(forward):
                self.assertNotIn(_MEAN_OUT, self.calls(self.export(_source(forward), self._NAMES)))

    def test_leaves_volumes(self) -> None:
        init = _INIT.replace("Conv2d", "Conv3d")
        for mean in ("y.mean((2, 3))", "y.mean((2, 3, 4))"):
            with self.subTest(mean):
                source = model_file(f"y = self.first(x)\nreturn {mean}", "torch.rand(2, 32, 5, 6, 7)", init=init)
                exported = self.export(source, self._NAMES)
                self.assertIn(PACKED_CONVOLUTION_OUT, self.calls(exported))
                self.assertNotIn(_MEAN_OUT, self.calls(exported))

    def test_sizes_that_vary(self) -> None:
        source = _source("return self.last(y * y.mean((2, 3), keepdim=True))")
        sizes = "{2: torch.export.Dim('height', min=6, max=20), 3: torch.export.Dim('width', min=6, max=20)}"
        exported = self.export(f"{source}\ndef get_dynamic_shapes():\n    return ({sizes},)\n", self._NAMES)
        self.assertIn(_MEAN_OUT, self.calls(exported))


if __name__ == "__main__":
    absltest.main()
