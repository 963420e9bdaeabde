"""Tests that the passes that replace no call are skipped, and no others."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from absl.testing import absltest
from executorch.exir.pass_base import ExportPass, NodeMetadata
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from export.patches import idle_passes

_Call = Callable[..., Any]

_RELU, _SIN = torch.ops.aten.relu.default, torch.ops.aten.sin.default


class _Adds(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values, _ = (x + 1).max(1)
        return torch.add(values, values, alpha=2).relu()


class _Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.cond(x.sum() > 0, lambda x: x.relu(), lambda x: x + 1, (x,))
        return result


class _Pass(ExportPass):  # type: ignore[misc]
    """A pass whose `call_operator` is a function, which gets ExecuTorch's `call_operator` as its first argument."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def call_operator(self, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> Any:
        return self._function(super().call_operator, op, args, kwargs, meta)


class _Counting(_Pass):
    """Counts the traces of graphs."""

    traces = 0

    def call_submodule(self, graph_module: GraphModule, inputs: Any) -> PassResult:
        self.traces += 1
        result: PassResult = super().call_submodule(graph_module, inputs)
        return result


class _WithOutput(_Pass):
    """Replaces the output."""

    def output(self, results: Any, meta: NodeMetadata) -> Any:
        (result,) = results
        return super().output([self.call_operator(_RELU, (result,), {}, meta)], meta)


def _keep(call: _Call, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> Any:
    """Keeps a call, with new containers."""
    return call(op, (*args,), {**kwargs}, meta)


def _replace(call: _Call, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> Any:
    return call(_SIN if op == _RELU else op, args, kwargs, meta)


def _replace_number(call: _Call, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> Any:
    """Replaces numbers by equal numbers of another type."""
    return call(op, args, {name: float(value) for name, value in kwargs.items()}, meta)


def _call_twice(call: _Call, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> Any:
    result = call(op, args, kwargs, meta)
    return call(op, (result,), kwargs, meta) if op == _RELU else result


def _remove(call: _Call, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> Any:
    return args[0] if op == _RELU else call(op, args, kwargs, meta)


def _mark(call: _Call, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> Any:
    meta["mark"] = str(op)
    return call(op, args, kwargs, meta)


def _refuse(call: _Call, op: Any, args: Any, kwargs: Any, meta: NodeMetadata) -> Any:
    raise ValueError(f"refuses {op}")


def _graph(module: torch.nn.Module) -> GraphModule:
    result: GraphModule = torch.export.export(module, (torch.rand(2, 3),)).run_decompositions({}).graph_module
    return result


def _run(one: ExportPass, module: GraphModule, *, skipped: bool = True) -> GraphModule:
    with idle_passes.skipped() if skipped else contextlib.nullcontext():
        result: GraphModule = one(module).graph_module
    return result


class IdlePassesTest(absltest.TestCase):
    def test_idle(self) -> None:
        given, one = _graph(_Adds()), _Pass(_keep)
        text = str(given.graph)
        self.assertIs(_run(one, given), given)
        self.assertEqual(str(given.graph), text)
        self.assertNotIn("_fx", vars(one))

    def test_idle_in_branches(self) -> None:
        given = _graph(_Branches())
        result = _run(_Pass(_keep), given)
        self.assertIsNot(result, given)
        branches = [*given.children()]
        self.assertEqual(len(branches), 2)
        self.assertEqual([*map(id, result.children())], [*map(id, branches)])

    def test_not_idle(self) -> None:
        of_functions = [_Pass(function) for function in (_replace, _replace_number, _call_twice, _remove, _mark)]
        for one in (*of_functions, _WithOutput(_keep)):
            with self.subTest(one._function.__name__):
                traced = _run(one, _graph(_Adds()), skipped=False)
                given = _graph(_Adds())
                result = _run(one, given)
                self.assertIsNot(result, given)
                self.assertEqual(result.code, traced.code)
                self.assertEqual(_marks(result), _marks(traced))

    def test_own_trace(self) -> None:
        one = _Counting(_keep)
        given = _graph(_Adds())
        self.assertIsNot(_run(one, given), given)
        self.assertEqual(one.traces, 1)

    def test_raises(self) -> None:
        with self.assertRaisesRegex(ValueError, "refuses aten.add.Tensor"):
            _run(_Pass(_refuse), _graph(_Adds()))

    def test_executorch_is_as_it_was(self) -> None:
        original = ExportPass.call_submodule
        with idle_passes.skipped():
            self.assertIsNot(ExportPass.call_submodule, original)
        self.assertIs(ExportPass.call_submodule, original)


def _marks(module: GraphModule) -> list[Any]:
    return [node.meta.get("mark") for node in module.graph.nodes]


if __name__ == "__main__":
    absltest.main()
