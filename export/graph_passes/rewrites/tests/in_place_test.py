"""Tests of the passes in_place and views, which decide together what shares memory and what is written over."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from absl.testing import absltest, parameterized
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

from export.graph_passes import passes
from export.graph_passes.tests import rewriting
from export.graph_passes.tests.pass_test_case import (
    PassTestCase,
    model_file,
)

# All that views makes views of, for tensors whose first dimensions have one element.
_VIEWS = {
    "expand": "u.expand(1, *u.shape)",
    "select": "u.select(0, 0)",
    "slice": "u.narrow(0, 0, 1)",
    "squeeze_dim": "u.squeeze(0)",
    "squeeze_dims": "u.squeeze((0,))",
    "unsqueeze": "u.unsqueeze(0)",
    "permute": "u.movedim(0, -1)",
    "view": "u.view(1, -1)",
}
_CHAINS = [*((name,) for name in _VIEWS), *itertools.product(_VIEWS, repeat=2)]
# What is viewed and written to: {0} is the number of the function.
_SOURCES = {
    "intermediate": "x * 2.0",
    "output": "x * 2.0",
    "input": "x",
    "constant": "self.constant_{0}",
    "cache": "self.cache_{0}",
    "cache_of_other_values": "self.cache_{0}",
}
# What is written to, before or after `u` is made a view of `c`.
_WRITES = {
    "to the view": "{view}\nw = put(u)",
    "to the source": "{view}\nw = put(c)",
    "before the view of the source": "w = put(c)\n{view}",
    "before the view of the result": "w = put(c)\nold, c = c, w\n{view}\nc = old",
    "to both": "{view}\nw = put(c)\nresults.append(put(u))",
}
# What is needed afterwards.
_READS = {
    "the source": "results += [c + 1.0, w * 2.0]",
    "the view": "results += [u + 1.0, w * 2.0]",
    "the result": "results += [w]",
}
_Function = tuple[Sequence[str], str, str]


def _lines(number: int, source: str, function: _Function) -> str:
    chain, write, read = function
    view = "\n".join(["u = c", *(f"u = {_VIEWS[name]}" for name in chain)])
    lines = [f"c = {_SOURCES[source].format(number)}", _WRITES[write].format(view=view), _READS[read]]
    match source:
        case "output":
            lines.append("results.append(c)")
        case "cache":
            lines.append("c.copy_(w.reshape(c.shape))")
        case "cache_of_other_values":
            lines.append("c.copy_(x * 3.0)")
    return "\n".join(lines)


def _model(source: str, functions: Sequence[_Function]) -> str:
    """A model of many functions, as it is the export that takes time."""
    buffers = (
        f"self.register_buffer('{kind}_{number}', torch.rand(1, 1, 4, 3))"
        for number in range(len(functions))
        for kind in ("cache", "constant")
    )
    lines = (_lines(number, source, function) for number, function in enumerate(functions))
    return model_file(
        "\n".join(["put = Put(*others)", "results = []", *lines, "return tuple(results)"]),
        "torch.rand(1, 1, 4, 3)",
        "torch.rand(12)",
        "torch.tensor([0])",
        init="\n".join(buffers),
        after="""
        class Put:
            def __init__(self, values, index):
                self.values, self.index, self.views = values, index, {}

            def __call__(self, target):
                shape = target[:1].shape
                if shape not in self.views:
                    self.views[shape] = self.values[:shape.numel()].reshape(shape)
                return target.index_put((self.index,), self.views[shape])

        def get_sample_inputs():
            return [(torch.rand(1, 1, 4, 3), torch.rand(12), torch.tensor([0])) for _ in range(2)]
        """,
    )


def _functions(source: str) -> Iterator[_Function]:
    """Every view with all writes and reads, and every view of a view with some."""
    yield from itertools.product(_CHAINS[: len(_VIEWS)], _WRITES, _READS)
    others = itertools.cycle(itertools.product(_WRITES, _READS))
    for _ in range(list(_SOURCES).index(source)):
        next(others)
    yield from ((chain, *next(others)) for chain in _CHAINS[len(_VIEWS) :])


class MemoryTest(PassTestCase, parameterized.TestCase):
    """What is overwritten while it is needed, which shows in values."""

    @parameterized.parameters(*_SOURCES)
    def test_values(self, source: str) -> None:
        functions = rewriting.sampled(list(_functions(source)), 4, list(_SOURCES).index(source))
        exported = self.export(_model(source, functions), ["default"])
        self.assertNotEmpty(self.changes(exported, "views"))
        self.assertEqual(bool(self.changes(exported, "in_place")), source != "constant")
        self.check_values(exported)

    @parameterized.parameters(
        "c = x * 2.0\nu = c.squeeze(0)\nw = u.index_put((i,), v)\nreturn c + 1.0, w * 2.0",
        "c = x[0] * 2.0\nu = c.unsqueeze(0)\ny = c.index_put((i,), v)\nreturn u + 1.0, y * 1.0",
        "c = x * 2.0\nu = c.select(0, 0)\nw = u.index_put((i,), v)\nreturn c + 1.0, w * 2.0",
        "u = x.squeeze(0)\nw = u.index_put((i,), v)\nreturn w * 2.0, x + 1.0",
        # The memory of a result in place is needed for as long as the result.
        "y = (x[0] * 2.0).index_put((i,), v)\na = x[0] + 1.0\nb = a * 3.0\nreturn y + (a + b), y * b",
        # Rows are moved that are read from where they are written.
        "c = x[0] * 2.0\nreturn c.index_put((torch.tensor([3, 2, 1, 0]),), c)",
        "c = x[0] * 2.0\nreturn c.index_put((torch.tensor([3, 2, 1, 0]),), c.view(1, 4, 3).squeeze(0))",
        # A buffer becomes a part of another, which becomes something else.
        "self.other.copy_(self.cache.unsqueeze(0).view(4, 3))\nself.cache.mul_(2.0)\nreturn x + self.other",
        "new = self.cache.index_put((i,), v)\nself.other.copy_(new)\nself.cache.copy_(x[0])\nreturn new * 2.0",
        "new = self.cache.index_put((i,), v)\nself.cache.copy_(x[0])\nreturn new",
        # ExecuTorch puts out first what is not in place, be it of a buffer or of an input.
        "self.cache.index_put_((i,), v)\nx.mul_(2.0)\nreturn self.cache * 2.0",
        "x.index_put_((i,), v[None])\nv.mul_(2.0)\nreturn x + 1.0",
    )
    def test_single_functions(self, forward: str) -> None:
        self.check_values(self.export(_source(forward), ["default"]))


def _source(forward: str) -> str:
    """A model with two caches that takes an image of a row, the number of a row, and a row."""
    return model_file(
        forward,
        "torch.rand(1, 4, 3)",
        "torch.tensor([0])",
        "torch.rand(1, 3)",
        takes="x, i, v",
        init="self.register_buffer('cache', torch.zeros(4, 3))\nself.register_buffer('other', torch.zeros(4, 3))",
        after="""
        def get_sample_inputs():
            return [(torch.rand(1, 4, 3), torch.tensor([0]), torch.rand(1, 3)) for _ in range(3)]
        """,
    )


class InPlaceTest(PassTestCase, parameterized.TestCase):
    @parameterized.parameters(
        ("self.cache.index_copy_(0, i, v)\nreturn self.cache * 2.0", 1),
        ("self.cache[i] = v\nreturn self.cache * 2.0", 1),
        ("self.cache[:, i] = x[0, :, 1:2]\nreturn self.cache * 2.0", 1),
        ("self.cache[i] = v\nself.other[i] = v * 3.0\nreturn self.cache * self.other", 2),
        ("self.cache[i] = v\nself.cache[i + 1] = v * 3.0\nreturn self.cache * 2.0", 2),
        ("self.cache.view(12)[i] = v[0, :1]\nreturn self.cache * 2.0", 1),
        ("c = x * 2.0\nc[:, i] = v\nc[:, i + 2] = v * 3.0\nreturn c", 2),
        # What was there is read before, and views of the result are no copies either.
        ("old = self.cache * 3.0\nself.cache[i] = v\nreturn old + self.cache.view(12).view(4, 3)", 1),
        ("self.cache[i] = v\nreturn self.cache.unsqueeze(0) * self.cache[None, None]", 1),
    )
    def test_acts(self, forward: str, changes: int) -> None:
        exported = self.export(_source(forward), ["default"])
        self.assertEqual(self.changes(exported, "in_place"), ["index_put in place"] * changes)
        self.assertNotIn("aten::copy_", self.calls(exported))
        self.assertNotIn("aten::index_put.out", self.calls(exported))
        self.check_values(exported)

    @parameterized.parameters(
        # An input, a constant, and what the caller gets of a cache.
        "return x.index_put((i,), v[None])",
        "return self.other.index_put((i,), v)",
        "self.cache[i] = v\nreturn self.cache",
        # ExecuTorch's kernel takes one list of positions, and counts none from the end.
        "self.cache[i, i] = v[:, 0]\nreturn self.cache * 2.0",
        "self.cache[i[None]] = v\nreturn self.cache * 2.0",
        "self.cache.index_put_((torch.tensor([-1]),), v)\nreturn self.cache * 2.0",
        # What the indices choose, or how values broadcast to that, is known when the program runs.
        "y = x[0] * 2.0\ny[x[0, :, 0] > 0.5] = v[0]\nreturn y",
        "y = x[0] * 2.0\ny[x[0] > 0.5] = v[0, 0]\nreturn y",
        "y = x[0] * 2.0\ny[i] = v[0, :1]\nreturn y",
        "y = x[0] * 2.0\nreturn y.index_put((i,), v, accumulate=True)",
    )
    def test_leaves(self, forward: str) -> None:
        exported = self.export(_source(forward), ["default"])
        self.assertEqual(self.changes(exported, "in_place"), [])
        self.check_values(exported)

    def test_leaves_only_what_it_must(self) -> None:
        """Each call is decided on its own."""
        forward = "a, b = x[0] * 2.0, x[0] * 3.0\na[i] = v\nc = b.index_put((i,), v)\nreturn a, b, c"
        exported = self.export(_source(forward), ["default"])
        self.assertEqual(self.changes(exported, "in_place"), ["index_put in place"])
        self.check_values(exported)


class DynamicShapesTest(PassTestCase, parameterized.TestCase):
    @parameterized.parameters(
        ("y = x * 2.0\nreturn y.index_put((i,), v)", 1),
        ("y = x * 2.0\ny[:, i[:1]] = x[:, :1]\nreturn y", 1),
        ("y = x * 2.0\nreturn y.index_put((i,), x[:1])", 0),
        ("y = x * 2.0\ny[x[:, 0] > 0] = v[0]\nreturn y", 0),
    )
    def test_sizes_stay_free(self, forward: str, changes: int) -> None:
        exported = self.export(
            model_file(
                forward,
                "torch.rand(6, 3)",
                "torch.arange(4)",
                "torch.rand(4, 3)",
                takes="x, i, v",
                after="""
                def get_dynamic_shapes():
                    rows, count = torch.export.Dim("rows", min=2, max=64), torch.export.Dim("count", min=2, max=64)
                    return {"x": {0: rows}, "i": {0: count}, "v": {0: count}}

                def get_sample_inputs():
                    sizes = ((6, 4), (2, 2), (20, 7), (3, 3))
                    return [(torch.rand(n, 3), torch.arange(k), torch.rand(k, 3)) for n, k in sizes]
                """,
            ),
            ["default"],
        )
        self.assertEqual(self.changes(exported, "in_place"), ["index_put in place"] * changes)
        self.check_values(exported)

    @parameterized.parameters(
        "y[x[:, 0] > 0] = v[0]",
        "y[x[:, 0] > 0] = x[x[:, 0] > 0]",
        "y[torch.nonzero(x[:, 0] > 0).squeeze(1)] = v[0]",
        "y[torch.nonzero(x[:, 0] > 0).squeeze(1)] = x[torch.nonzero(x[:, 1] > 0).squeeze(1)]",
        "y[torch.nonzero(x[:, 0] > 0).squeeze(1), i] = 1.0",
    )
    def test_adds_no_guards(self, write: str) -> None:
        """Of sizes that depend on elements, nothing is asked that only elements say."""
        namespace: dict[str, Any] = {"torch": torch}
        source = (
            f"class Model(torch.nn.Module):\n    def forward(self, x, i, v):\n        y = x * 2.0\n        {write}\n"
        )
        exec(f"{source}        return y", namespace)
        inputs = (torch.rand(6, 3), torch.tensor([1]), torch.rand(4, 3))
        shapes = ({0: torch.export.Dim("rows", min=2, max=64)}, None, None)
        exported = torch.export.export(namespace["Model"](), inputs, dynamic_shapes=shapes)
        config = EdgeCompileConfig(_check_ir_validity=False)
        program = to_edge_transform_and_lower(exported, compile_config=config).exported_program()
        environment = next(node.meta["val"] for node in program.graph.nodes if node.name == "x").fake_mode.shape_env
        known = [list(environment.guards), dict(environment.replacements), dict(program.range_constraints)]
        for one in passes.select(["in_place", "views"]):
            passes.apply(one, program)
        after = [list(environment.guards), dict(environment.replacements), dict(program.range_constraints)]
        self.assertEqual(after, known)


class _ForcedLate(torch.nn.Module):
    """Only its last call says how long its input is."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.unsqueeze(0).relu() + torch.ones(1, 12)


class LateSizesTest(absltest.TestCase):
    def test_emits(self) -> None:
        """ExecuTorch makes no view with sizes that are known of a tensor whose sizes it takes for ones that vary."""
        shapes = ({0: torch.export.Dim.AUTO(max=64)},)
        rewritten = rewriting.rewrite(_ForcedLate(), (torch.rand(12),), ["views"], shapes)
        rewriting.compare(_ForcedLate(), rewritten, (torch.rand(12),))
        rewritten.emit()


class AloneTest(PassTestCase):
    _CACHE = "self.register_buffer('cache', torch.zeros(8, 3))"
    _SAMPLES = """
    def get_sample_inputs():
        return [(torch.rand(1, 3), torch.tensor([i])) for i in (0, 5, 2)]
    """

    def _source(self, forward: str) -> str:
        return model_file(forward, "torch.rand(1, 3)", "torch.tensor([0])", init=self._CACHE, after=self._SAMPLES)

    def test_acts(self) -> None:
        self.check(
            "in_place",
            self._source("self.cache.index_copy_(0, others[0], x)\nreturn self.cache * 2.0"),
            changes=["index_put in place"],
            calls=["aten::index_put_", "aten::mul.out"],
        )

    def test_leaves(self) -> None:
        for forward in (
            # What was there before is needed afterwards.
            "new = self.cache.index_put((others[0],), x)\nold = self.cache * 2.0\nself.cache.copy_(new)\nreturn old",
            # A view shares the memory of what is written to.
            "y = x.expand(8, 3) + 1.0\nreturn y.view(24).index_put((others[0],), x[0, 0]) + y.view(24)",
            # ExecuTorch's kernel does neither in place.
            "self.cache.index_put_((others[0],), x, accumulate=True)\nreturn self.cache * 2.0",
            "self.cache.index_put_((others[0],), x[0, 0])\nreturn self.cache * 2.0",
        ):
            exported = self.export(self._source(forward), ["in_place"])
            self.assertEqual(self.changes(exported, "in_place"), [])
            self.check_values(exported)


if __name__ == "__main__":
    absltest.main()
