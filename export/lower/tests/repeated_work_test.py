"""Tests that programs are the same without the work that PyTorch and ExecuTorch repeat."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import itertools
import pickle
from collections.abc import Iterable
from typing import Any
from unittest import mock

import torch
from absl.testing import absltest
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from torch._subclasses import fake_impls
from torch.export import Dim, ExportedProgram, default_decompositions, exported_program
from torch.fx.traceback import NodeSource

from export.lower import repeated_work


class _InPlace(torch.nn.Module):
    """Writes to views of values, of an input and of a buffer."""

    sums: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("sums", torch.arange(6.0).reshape(2, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2 + 1
        y[:, 0].mul_(3)
        self.sums[1].add_(y[0])
        x.transpose(0, 1)[2].zero_()
        return torch.nn.functional.layer_norm(y + self.sums, (3,)).t()


class _NewInPlace(torch.nn.Module):
    """Writes to results of calls only: to a new tensor, to a view of a new tensor, and to a result of a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU6(inplace=True)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layers(x)
        y += self.layers(x)
        y[:, 0].mul_(3)
        return torch.nn.functional.dropout(y.flatten(1), training=False, inplace=True)


class _Replaced(torch.nn.Module):
    """Has calls that passes of ExecuTorch replace: scalars and mixed types, a size as a tensor, a memory format."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        whole = (x * 4).to(torch.int32)
        return whole + x, torch.where(x > 0, 1.0, x), x.t() + x.shape[0], x[None, None].to(memory_format=_CHANNELS_LAST)


class _Attention(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.layer(x)
        return hidden[:, -1].to(torch.float16).softmax(-1)


class _Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.cond(x.sum() > 0, lambda x: x.t().relu() + 0.5, lambda x: x.t() // 2, (x,))
        return result


_CHANNELS_LAST = torch.channels_last
_SIZE = Dim("size", min=2, max=9)
_DYNAMIC = {"x": {1: _SIZE}}
_MODULES: dict[str, tuple[torch.nn.Module, torch.Tensor, Any]] = {
    "writes": (_InPlace(), torch.rand(2, 3), None),
    "writes to new tensors": (_NewInPlace(), torch.rand(1, 3, 8, 8), None),
    "replaced calls": (_Replaced(), torch.rand(4, 4), None),
    "replaced calls, sizes that vary": (_Replaced(), torch.rand(4, 4), {"x": {0: _SIZE, 1: _SIZE}}),
    "attention": (_Attention(), torch.rand(1, 4, 8), None),
    "sizes that vary": (_Attention(), torch.rand(1, 4, 8), _DYNAMIC),
    "branches": (_Branches(), torch.rand(2, 3), None),
    "images": (torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)), torch.rand(1, 3, 8, 8), None),
}


_DECOMPOSED = "writes, decomposed"  # The new values of the input and of the buffer are outputs.


def _exported(name: str) -> ExportedProgram:
    if name == _DECOMPOSED:
        decomposed: ExportedProgram = _exported("writes").run_decompositions({})
        return decomposed
    module, example, dynamic = _MODULES[name]
    return torch.export.export(copy.deepcopy(module).eval(), (example.clone(),), dynamic_shapes=dynamic)


def _config(*preserved: torch._ops.OpOverload) -> EdgeCompileConfig:
    return EdgeCompileConfig(_check_ir_validity=False, preserve_ops=list(preserved))


class RepeatedWorkTest(absltest.TestCase):
    def test_same_program(self) -> None:
        for name, preserved in itertools.product([*_MODULES, _DECOMPOSED], [(), (torch.ops.aten.linear.default,)]):
            with self.subTest(name, preserved=preserved):
                edge = to_edge_transform_and_lower({"forward": _exported(name)}, compile_config=_config(*preserved))
                code, program = edge.exported_program().graph_module.code, edge.to_executorch().buffer
                with repeated_work.avoided():
                    edge = repeated_work.to_edge({"forward": _exported(name)}, _config(*preserved))
                    self.assertEqual(code.splitlines(), edge.exported_program().graph_module.code.splitlines())
                    self.assertTrue(program == edge.to_executorch().buffer)

    def test_sources_of_nodes(self) -> None:
        def sources(*, shared: bool) -> list[list[str]]:
            with repeated_work.avoided() if shared else contextlib.nullcontext():
                edge = repeated_work.to_edge({"forward": _exported("attention")}, _config())
            return [_names(node.meta.get("from_node", [])) for node in edge.exported_program().graph.nodes]

        of_nodes = sources(shared=True)
        self.assertGreater(max(map(len, of_nodes)), 1, "records of records")
        self.assertEqual(sources(shared=False), of_nodes)
        self.assertNotIn("__deepcopy__", vars(NodeSource), "PyTorch is as it was")

    def test_overridden_kernels(self) -> None:
        table = dict(default_decompositions().items())
        decompositions, _ = exported_program._split_decomp_table_to_cia_and_python_decomp(table)
        original = exported_program._override_composite_implicit_decomp
        before = _kernels(decompositions)
        with original(decompositions):
            expected = _kernels(decompositions)
        self.assertNotEqual(before, expected)
        with repeated_work.avoided(), exported_program._override_composite_implicit_decomp(decompositions):
            self.assertEqual(expected, _kernels(decompositions))
            self.assertTrue(all(not operator._dispatch_cache for operator in decompositions))
        self.assertEqual(before, _kernels(decompositions))
        self.assertIs(original, exported_program._override_composite_implicit_decomp, "PyTorch is as it was")

    def test_code_of_graph_modules(self) -> None:
        x = torch.tensor([-1.0, 2.0])
        original = torch.fx.GraphModule.recompile
        with repeated_work.avoided():
            module = torch.fx.symbolic_trace(torch.nn.ReLU())
            self.assertNotIn("_code", vars(module), "nothing has read the code yet")
            self.assertTrue(torch.equal(module(x), x.relu()))
            (relu,) = module.graph.find_nodes(op="call_function", target=torch.nn.functional.relu)
            with module.graph.inserting_before(relu):
                relu.args = (module.graph.call_function(torch.neg, relu.args),)
            module.recompile()
            for same in (module, copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
                self.assertTrue(torch.equal(same(x), (-x).relu()))
                self.assertIn("torch.neg(", same.code)
            module.recompile()
            self.assertEqual([*inspect.signature(module.forward).parameters], ["input"])
        self.assertTrue(torch.equal(module(x), (-x).relu()))
        self.assertIs(torch.fx.GraphModule.recompile, original, "PyTorch is as it was")

    def test_operators_registered_between_lowerings(self) -> None:
        collected: list[set[Any]] = []
        collect = torch._export.utils._collect_all_valid_cia_ops_for_namespace

        def noting(namespace: Any) -> set[Any]:
            found: set[Any] = collect(namespace)
            collected.append(found)
            return found

        def lowered() -> set[str]:
            collected.clear()
            with mock.patch.object(torch._export.utils, collect.__name__, functools.wraps(collect)(noting)):
                repeated_work.to_edge({"forward": _exported("images")}, _config())
            return {str(one) for found in collected for one in found}

        self.assertNotIn("repeated_work_test.twice.default", lowered())
        library = torch.library.Library("repeated_work_test", "DEF")
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CompositeImplicitAutograd")
        self.assertIn("repeated_work_test.twice.default", lowered())


def _kernels(operators: Iterable[torch._ops.OperatorBase]) -> dict[str, tuple[dict[str, str], bool]]:
    """The names of the kernels of operators by dispatch key, and whether fake tensors have a kernel of their own."""
    return {
        str(one): (
            {str(key): getattr(getattr(kernel, "func", kernel), "__qualname__", "") for key, kernel in kernels.items()},
            one in fake_impls.op_implementations_dict,
        )
        for one, kernels in ((operator, operator.py_kernels) for operator in operators)
    }


def _names(sources: list[NodeSource]) -> list[str]:
    """The names of the nodes that a node comes from, from the last to the first."""
    return [name for source in sources for name in (f"{source.name} {source.pass_name}", *_names(source.from_node))]


if __name__ == "__main__":
    absltest.main()
