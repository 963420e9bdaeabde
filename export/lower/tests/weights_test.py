"""Tests of constants in a file of their own, with ExecuTorch's own Python runtime."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from absl.testing import absltest
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer
from executorch.extension.pybindings.portable_lib import _load_for_executorch

from export.exporter import Exported, export
from export.lower import weights
from export.tests.model_files import Files, read

_METHODS = """
import torch
class Model(torch.nn.Module):
    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(7)
        self.shared = torch.nn.Linear(64, 64)
        torch.manual_seed(seed)
        self.own = torch.nn.Linear(64, 64)
        self.small = torch.nn.Linear(64, 3)
        self.convolution = torch.nn.Conv2d(8, 16, 3)
    def forward(self, x, y):
        return self.small(self.own(self.shared(x))), self.convolution(y)
def get_model():
    inputs = (torch.randn(2, 64), torch.randn(1, 8, 6, 6))
    return {"first": (Model(1), inputs), "second": (Model(2), inputs)}
"""

_TIED = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        weight = torch.randn(32, 16)
        self.register_buffer("weight", weight)
        self.register_buffer("wide", weight.view(16, 32).clone())
    def forward(self, x):
        return x * self.weight + 1, x.view(16, 32) + self.wide
def get_model():
    return Model(), (torch.randn(32, 16),)
"""

_SMALL = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randn(255))
    def forward(self, x):
        return x + self.weight
def get_model():
    return Model(), (torch.randn(255),)
"""


def _weights(exported: Exported) -> bytes:
    assert exported.weights is not None
    return exported.weights


def _count(file: bytes) -> int:
    """Returns the number of different contents."""
    return len(FlatTensorSerializer().deserialize(file).buffers)


class WeightsTest(Files):
    def exported(
        self,
        source: str,
        *,
        external_weights: bool = True,
        backends: tuple[str, ...] = (),
        graph_passes: tuple[str, ...] = (),
    ) -> Exported:
        self.model.write_text(source)
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            return export(self.model, external_weights=external_weights, backends=backends, graph_passes=graph_passes)

    def merged(self, programs: Sequence[Exported], *, bases: Sequence[Exported] = ()) -> bytes:
        paths = []
        for number, program in enumerate((*programs, *bases)):
            paths.append(self.folder / f"{number}.weights.ptd")
            paths[-1].write_bytes(_weights(program))
        return weights.merge(paths[: len(programs)], paths[len(programs) :])

    def layouts(self, exported: Exported) -> Mapping[str, list[int]]:
        entries = FlatTensorSerializer().deserialize(_weights(exported)).named_data
        return {key: entry.tensor_layout.sizes if entry.tensor_layout else [] for key, entry in entries.items()}

    def assert_runs(self, exported: Exported) -> None:
        program, constants = self.folder / "model.pte", self.folder / "model.weights.ptd"
        program.write_bytes(exported.pte)
        constants.write_bytes(_weights(exported))
        # ExecuTorch's runtime refuses an empty file.
        paths = [program, constants] if self.layouts(exported) else [program]
        loaded = _load_for_executorch(*map(str, paths))
        samples = read(exported.ptd)
        methods = {key.split("/")[0] for key in samples}
        for method in methods:
            inputs, outputs = (
                [value for key, value in sorted(samples.items()) if key.startswith(f"{method}/0/{kind}/")]
                for kind in ("input", "output")
            )
            torch.testing.assert_close(loaded.run_method(method, tuple(inputs)), outputs)

    def test_methods_store_each_tensor_once(self) -> None:
        exported = self.exported(_METHODS)
        # Both methods have the same shared weight, and an own one each. Biases and the small weight have less than
        # 1,024 bytes.
        kinds = [key.partition("@")[0] for key in self.layouts(exported)]
        self.assertCountEqual(kinds, ["float32[64,64]"] * 3 + ["float32[16,8,3,3]"] * 2)
        self.assert_runs(exported)
        moved = 4 * (3 * 64 * 64 + 2 * 16 * 8 * 9)
        embedded = self.exported(_METHODS, external_weights=False)
        self.assertIsNone(embedded.weights)
        self.assertLess(len(exported.pte), len(embedded.pte) - moved + 2000)
        self.assertGreater(len(_weights(exported)), moved)
        self.assertLess(len(_weights(exported)), moved + 4000)
        self.assertEqual(exported.ptd, embedded.ptd)

    def test_constants_that_graph_passes_make(self) -> None:
        exported = self.exported(_METHODS, graph_passes=("all",))
        # The packed convolutions of both methods have the same name and other elements.
        keys = list(self.layouts(exported))
        self.assertEqual(len(set(keys)), len(keys))
        program = deserialize_pte_binary(exported.pte).program
        held = max(len(buffer.storage) for buffer in program.constant_buffer)
        self.assertLess(held, 1024)

    def test_same_elements_with_other_shapes(self) -> None:
        exported = self.exported(_TIED)
        self.assertCountEqual(self.layouts(exported).values(), [[32, 16], [16, 32]])
        self.assertEqual(_count(_weights(exported)), 1)
        self.assert_runs(exported)

    def test_constants_of_a_backend(self) -> None:
        exported = self.exported(_METHODS, backends=("xnnpack",))
        self.assertLess(len(exported.pte), 12000)
        self.assert_runs(exported)

    def test_small_constants_only(self) -> None:
        exported = self.exported(_SMALL)
        self.assertEqual(self.layouts(exported), {})
        self.assert_runs(exported)

    def test_programs_share_a_file(self) -> None:
        first = self.exported(_METHODS)
        second = self.exported(_METHODS.replace("Model(2)", "Model(3)"), backends=("xnnpack",))
        merged = replace(first, weights=self.merged([first, second, first]))
        self.assert_runs(merged)
        self.assert_runs(replace(second, weights=merged.weights))
        # Of the second program, the file gets one linear weight, and the two weights that XNNPACK has in its own order.
        self.assertEqual(_count(_weights(first)), 5)
        self.assertEqual(_count(_weights(merged)), 5 + 3)

    def test_file_over_a_base(self) -> None:
        first = self.exported(_METHODS)
        # The same weights under other names, and one other weight.
        renamed = _METHODS.replace("self.shared", "self.wrapped").replace("Model(2)", "Model(3)")
        second = self.exported(renamed)
        over = replace(second, weights=self.merged([second], bases=[first]))
        self.assertCountEqual(self.layouts(over).values(), [[64, 64], [16, 8, 3, 3]])
        self.assertTrue(self.layouts(over).keys().isdisjoint(self.layouts(first)))
        self.assertEqual(self.layouts(replace(first, weights=self.merged([first], bases=[second, first]))), {})

    def test_damaged_base(self) -> None:
        whole = _weights(self.exported(_SMALL))
        base = self.folder / "base.ptd"
        for content in (b"", whole[:40], whole[:60], b"\0" * 100):
            base.write_bytes(content)
            self.assert_refused(lambda: weights.merge([], [base]), f"damaged-program {base}")

    def test_packed_weights_over_a_base(self) -> None:
        """A graph pass names a packed weight after its node, whose number differs between the programs."""
        plain, longer = (
            self.exported(_METHODS.replace("self.own(self.shared(x))", calls), graph_passes=("all",))
            for calls in ("self.own(self.shared(x))", "self.own(self.shared(self.own(x)))")
        )
        self.assertEqual(self.layouts(replace(longer, weights=self.merged([longer], bases=[plain]))), {})

    def test_same_bytes_in_every_export(self) -> None:
        first, second = self.exported(_METHODS), self.exported(_METHODS)
        self.assertEqual((first.pte, first.weights), (second.pte, second.weights))


if __name__ == "__main__":
    absltest.main()
