"""Tests of the pass batch_norm."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import torch
from absl.testing import absltest
from torch import nn
from torch.nn import functional

from export.graph_passes.tests import rewriting
from export.graph_passes.tests.pass_test_case import (
    PassTestCase,
    model_file,
)


class _Chain(nn.Module):
    """A layer, and norms one after another."""

    def __init__(self, layer: nn.Module, norms: Sequence[nn.Module]) -> None:
        super().__init__()
        self.layer = layer
        self.norms = nn.Sequential(*norms)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.norms(self.layer(x))
        return result


# A layer of 4 features to 6, what makes its norm, an input, and a pass that the layer needs.
_LAYERS: Sequence[tuple[Callable[[], nn.Module], type[nn.Module], tuple[int, ...], Sequence[str]]] = (
    (lambda: nn.Conv1d(4, 6, 3), nn.BatchNorm1d, (2, 4, 7), []),
    (lambda: nn.Conv2d(4, 6, 3, bias=False), nn.BatchNorm2d, (2, 4, 7, 5), []),
    (lambda: nn.Conv2d(4, 6, 3, groups=2), nn.BatchNorm2d, (2, 4, 7, 5), []),
    (lambda: nn.Conv3d(4, 6, 2), nn.BatchNorm3d, (2, 4, 3, 4, 5), []),
    (lambda: nn.ConvTranspose2d(4, 6, 3), nn.BatchNorm2d, (2, 4, 7, 5), []),
    (lambda: nn.Linear(4, 6), nn.BatchNorm1d, (5, 4), []),
    (lambda: nn.Linear(4, 6, bias=False), nn.BatchNorm1d, (5, 4), ["linear"]),
)


class ChainTest(absltest.TestCase):
    def test_chains(self) -> None:
        """The second of them has neither a scale nor a shift."""
        for (make, norm, shape, needed), (count, names) in itertools.product(
            _LAYERS, ((1, ["batch_norm"]), (2, ["all"]), (3, ["batch_norm"]))
        ):
            layer = make()
            with self.subTest(layer=layer, count=count):
                module = rewriting.randomized(_Chain(layer, [norm(6, affine=i != 1) for i in range(count)]))
                inputs = (torch.rand(shape),)
                rewritten = rewriting.rewrite(module, inputs, [*names, *needed])
                self.assertLen(rewritten.changes["batch_norm"], count)
                rewriting.compare(module, rewritten, inputs)

    def test_runs_twice(self) -> None:
        for make, norm, shape, needed in _LAYERS:
            module = rewriting.randomized(_Chain(make(), [norm(6), norm(6)]))
            inputs = (torch.rand(shape),)
            rewriting.compare(module, rewriting.rewrite(module, inputs, ["batch_norm", *needed], times=2), inputs)


class SharedTest(absltest.TestCase):
    def test_calls_of_one_layer(self) -> None:
        class Twice(nn.Module):
            def __init__(self, features: int) -> None:
                super().__init__()
                self.layer = nn.Conv2d(4, 4, 3, padding=1) if features else nn.Linear(4, 4)
                norm = nn.BatchNorm2d if features else nn.BatchNorm1d
                self.norms = nn.ModuleList([norm(4), norm(4)])

            def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
                y = self.norms[0](self.layer(x))
                z = self.norms[1](self.layer(y))
                return self.norms[0](self.norms[1](self.layer(z))), self.layer(z)

        for features, shape in ((True, (2, 4, 5, 5)), (False, (5, 4))):
            module, inputs = rewriting.randomized(Twice(features)), (torch.rand(shape),)
            for names in (["batch_norm"], ["all"]):
                rewritten = rewriting.rewrite(module, inputs, names, times=2)
                self.assertLen(rewritten.changes["batch_norm"], 4)
                rewriting.compare(module, rewritten, inputs)

    def test_layers_that_share_weights(self) -> None:
        class Tied(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.a, self.b = nn.Conv2d(4, 4, 3), nn.Conv2d(4, 4, 3)
                self.b.weight = self.a.weight
                self.norm = nn.BatchNorm2d(4)

            def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
                return self.norm(self.norm(self.a(x))), self.b(x), functional.conv2d(x, self.b.weight)

        module, inputs = rewriting.randomized(Tied()), (torch.rand(2, 4, 5, 5),)
        for names in (["batch_norm"], ["all"]):
            rewriting.compare(module, rewriting.rewrite(module, inputs, names), inputs)

    def test_weights_that_are_not_transposed(self) -> None:
        class Product(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.weight, self.bias = nn.Parameter(torch.empty(4, 4)), nn.Parameter(torch.empty(4))
                self.norm = nn.BatchNorm1d(4)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                result: torch.Tensor = self.norm(torch.addmm(self.bias, x, self.weight.permute(0, 1)))
                return result

        module, inputs = rewriting.randomized(Product()), (torch.rand(5, 4),)
        rewriting.compare(module, rewriting.rewrite(module, inputs, ["batch_norm"]), inputs)


class BatchNormTest(PassTestCase):
    _FOLDED = "a batch norm folded into the layer before it"

    def test_acts(self) -> None:
        for convolution, x in (
            ("Conv2d(4, 6, 3)", "torch.rand(2, 4, 5, 6)"),
            ("Conv2d(4, 6, 3, groups=2, bias=False)", "torch.rand(2, 4, 5, 6)"),
            ("ConvTranspose2d(4, 6, 3, stride=2)", "torch.rand(2, 4, 5, 6)"),
        ):
            init = f"self.layers = torch.nn.Sequential(torch.nn.{convolution}, torch.nn.BatchNorm2d(6))"
            self.check(
                "batch_norm",
                model_file("return self.layers(x)", x, init=init),
                changes=[self._FOLDED],
                calls=["aten::convolution.out"],
            )

    def test_acts_on_linear_layers(self) -> None:
        init = "self.layers = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6))"
        source = model_file("return self.layers(x)", "torch.rand(3, 4)", init=init)
        self.check("batch_norm", source, changes=[self._FOLDED], calls=["aten::addmm.out", "aten::permute_copy.out"])
        kept = self.export(source, ["batch_norm", "linear"])
        self.assertEqual(self.calls(kept), ["aten::linear.out"])
        self.assertEqual(self.changes(kept, "batch_norm"), [self._FOLDED])

    def test_leaves(self) -> None:
        norm = "aten::_native_batch_norm_legit_no_training.out"
        for forward, init, x, calls in (
            # The convolution's result has another user.
            (
                "y = self.layer(x)\nreturn self.norm(y) + y",
                "Conv2d(4, 6, 1)",
                "torch.rand(2, 4, 5, 6)",
                ["aten::add.out", "aten::convolution.out", norm],
            ),
            # Something lies between them.
            (
                "return self.norm(self.layer(x).relu())",
                "Conv2d(4, 6, 1)",
                "torch.rand(2, 4, 5, 6)",
                ["aten::convolution.out", "aten::relu.out", norm],
            ),
            # A transposed convolution in groups, whose weights lie otherwise.
            (
                "return self.norm(self.layer(x))",
                "ConvTranspose2d(4, 6, 1, groups=2)",
                "torch.rand(2, 4, 5, 6)",
                ["aten::convolution.out", norm],
            ),
        ):
            source = model_file(forward, x, init=f"self.layer = torch.nn.{init}\nself.norm = torch.nn.BatchNorm2d(6)")
            self.check("batch_norm", source, changes=[], calls=calls)


if __name__ == "__main__":
    absltest.main()
