"""Tests of the typed views of calls: however a call spells its arguments, its view is the same."""

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed
from absl.testing import absltest, parameterized
from executorch.exir.dialects._ops import ops

from export.graph_passes import calls, normal_form
from export.graph_passes.call import Call, first

_DIMS = ("dim", "dim0", "dim1", "dims")
_LISTS_OF_CONVOLUTIONS = ("stride", "padding", "dilation", "output_padding")
_RANK = 4


class _Graph:
    """A graph with nodes that give tensors of four dimensions."""

    def __init__(self) -> None:
        self.graph = torch.fx.Graph()
        self._count = 0

    def tensor(self, rank: int = _RANK) -> torch.fx.Node:
        self._count += 1
        node: torch.fx.Node = self.graph.placeholder(f"x{self._count}")
        node.meta["val"] = torch.empty([2] * rank, device="meta")
        return node

    def call(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.fx.Node:
        return self.graph.call_function(target, args, kwargs)


def _value(graph: _Graph, argument: Any, draw: random.Random, is_aten: bool) -> Any:
    """An argument's value in normal form, by the type that PyTorch says."""
    kind, size = str(argument.type), argument.N
    if kind.startswith("Optional["):
        if draw.random() < 0.3:
            return None
        kind = kind.removeprefix("Optional[").removesuffix("]")
    if argument.name in _DIMS and is_aten:
        return draw.randrange(_RANK) if kind == "int" else tuple(draw.sample(range(_RANK), draw.randrange(1, _RANK)))
    simple: dict[str, Callable[[], Any]] = {
        "Tensor": graph.tensor,
        "List[Tensor]": lambda: (graph.tensor(), graph.tensor()),
        "List[Optional[Tensor]]": lambda: (None, graph.tensor()),
        "List[int]": lambda: tuple(draw.randrange(1, 9) for _ in range(size or draw.randrange(1, 5))),
        "int": lambda: draw.randrange(9),
        "number": lambda: draw.choice([2, 0.5]),
        "float": draw.random,
        "bool": lambda: draw.random() < 0.5,
        "str": lambda: draw.choice(["none", "gelu"]),
        "Device": lambda: torch.device("cpu"),
    }
    of_enums = {"dtype": torch.int8, "layout": torch.strided, "memory_format": torch.preserve_format}
    by_name = next((one for name, one in of_enums.items() if argument.name.endswith(name)), None)
    return by_name if kind == "int" and by_name is not None else simple[kind]()


def _normal(graph: _Graph, view: type[Call[Any]], draw: random.Random) -> list[tuple[Any, Any]]:
    """Arguments in normal form, each with what PyTorch's schema says of it."""
    found = []
    for argument in view.overload()._schema.arguments:
        value = _value(graph, argument, draw, view.OPERATOR.startswith("aten::"))
        if view is calls.Convolution and argument.name in _LISTS_OF_CONVOLUTIONS:
            value = tuple(draw.randrange(1, 3) for _ in range(_RANK - 2))
        if view in (calls.Unsqueeze, calls.UnsqueezeCopy) and argument.name == "dim":
            value = draw.randrange(_RANK + 1)
        found.append((argument, value))
    return found


def _spelled(view: type[Call[Any]], argument: Any, value: Any, values: dict[str, Any], draw: random.Random) -> Any:
    """One of the ways in which a call may have an argument."""
    rank = _RANK + (view in (calls.Unsqueeze, calls.UnsqueezeCopy))
    if value is None:
        return None
    if argument.name in _DIMS and view.OPERATOR.startswith("aten::"):
        dims = [dim - rank * draw.randrange(2) for dim in (value if isinstance(value, tuple) else (value,))]
        return dims if isinstance(value, tuple) else dims[0]
    if view is calls.AvgPool2d and argument.name == "stride" and value == values["kernel_size"]:
        return []
    is_short = (view is calls.Convolution and argument.name in _LISTS_OF_CONVOLUTIONS) or argument.N == 2
    if is_short and len(set(value)) == 1 and draw.random() < 0.7:
        return [value[0]]
    return list(value) if isinstance(value, tuple) else value


def _default(argument: Any) -> Any:
    default = argument.default_value
    return torch.float32 if argument.name.endswith("dtype") and default == 6 else default


def _is_default(argument: Any, value: Any) -> bool:
    default = _default(argument)
    return bool(argument.has_default_value() and (list(value) if isinstance(value, tuple) else value) == default)


class CallsTest(parameterized.TestCase):
    @parameterized.named_parameters((view.__name__, view) for view in calls.VIEWS.values())
    def test_fields(self, view: type[Call[Any]]) -> None:
        """The schemas are those of the packages that define the operators."""
        fields = dataclasses.fields(view)
        arguments: list[Any] = view.overload()._schema.arguments
        self.assertEqual([one.metadata.get("name", one.name) for one in fields], [one.name for one in arguments])
        self.assertEqual([one.kw_only for one in fields], [one.kwarg_only for one in arguments])
        for field, argument in zip(fields, arguments, strict=True):
            self.assertEqual(field.default is not dataclasses.MISSING, argument.has_default_value(), argument.name)
            if argument.has_default_value():
                self.assertTrue(_is_default(argument, field.default), argument.name)
            self.assertEqual(field.metadata.get("size"), argument.N, argument.name)

    @parameterized.product(view=list(calls.VIEWS.values()), is_edge=(True, False))
    def test_spellings(self, view: type[Call[Any]], is_edge: bool) -> None:
        for seed in range(50):
            draw, graph = random.Random(seed), _Graph()
            target = view.edge_overload() if is_edge else view.overload()
            normal = _normal(graph, view, draw)
            values = {argument.name: value for argument, value in normal}
            args, kwargs = [], {}
            by_keyword = False
            for argument, value in normal:
                by_keyword = by_keyword or argument.kwarg_only or draw.random() < 0.2
                if _is_default(argument, value) and draw.random() < 0.5:
                    by_keyword = True
                elif by_keyword:
                    kwargs[argument.name] = _spelled(view, argument, value, values, draw)
                else:
                    args.append(_spelled(view, argument, value, values, draw))
            node = graph.call(target, tuple(args), kwargs)
            found: Any = view.of(node)
            self.assertEqual(found, view(*_by_position(normal), **_by_keyword(normal)))
            found.write(node)
            self.assertIs(node.target, target)
            self.assertEqual(view.of(node), found)
            inserted = found.insert(node, torch.empty(2, device="meta"), is_edge=is_edge)
            self.assertIs(inserted.target, target)
            self.assertEqual(view.of(inserted), found)
            for written in (node, inserted):
                self.assertEqual(list(written.args), [_list(value) for value in _by_position(normal)])
                expected = {
                    argument.name: _list(value)
                    for argument, value in normal
                    if argument.kwarg_only and not _is_default(argument, value)
                }
                self.assertEqual(dict(written.kwargs), expected)

    def test_other_nodes(self) -> None:
        graph = _Graph()
        x = graph.tensor()
        node = graph.call(ops.edge.aten.relu.default, (x,), {})
        self.assertIsNone(calls.Sigmoid.of(node))
        for other in (x, None, 1, [node], graph.graph.output((node,))):
            self.assertIsNone(calls.Relu.of(other))
        self.assertEqual(calls.Relu.of(node), calls.Relu(x))

    def test_first(self) -> None:
        graph = _Graph()
        node = graph.call(ops.edge.aten.relu.default, (graph.tensor(),), {})
        self.assertIsInstance(first((calls.Sigmoid, calls.Relu), node), calls.Relu)
        self.assertIsNone(first((calls.Sigmoid, calls.Neg), node))

    def test_before(self) -> None:
        graph = _Graph()
        x = graph.tensor()
        views = [x]
        for _ in range(2):
            views.append(graph.call(ops.edge.aten.view_copy.default, (views[-1], [4]), {}))
        for view in views:
            self.assertIs(calls.ViewCopy.before(view), x)
        self.assertIs(calls.Relu.before(views[-1]), views[-1])

    def test_each(self) -> None:
        class Model(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.relu(torch.sigmoid(torch.relu(x)))

        program = torch.export.export(Model(), (torch.rand(2),))
        found = list(calls.Relu.each(program.graph.nodes))
        self.assertEqual([node.name for node, _ in found], ["relu", "relu_1"])
        self.assertEqual([str(call.input) for _, call in found], ["x", "sigmoid"])

    def test_replace(self) -> None:
        graph = _Graph()
        x, y = graph.tensor(), graph.tensor()
        call = calls.AddTensor(x, y)
        self.assertEqual(call.replace(alpha=2), calls.AddTensor(x, y, alpha=2))
        with self.assertRaisesRegex(TypeError, "factor"):
            call.replace(factor=2)

    def test_compute(self) -> None:
        x = torch.rand(2, 3)
        torch.testing.assert_close(calls.AddScalar(x, 2.0).compute(), x + 2, rtol=0, atol=0)
        torch.testing.assert_close(calls.MeanDim(x, (1,), keepdim=True).compute(), x.mean(1, keepdim=True))

    def test_dimensions_of_empty_tensors(self) -> None:
        """PyTorch concatenates an empty tensor of one dimension with any, and lets numbers have a dimension."""
        graph = _Graph()
        empty = graph.tensor(1)
        cat: Any = calls.Cat.of(graph.call(torch.ops.aten.cat.default, ([empty, graph.tensor()], -1), {}))
        self.assertEqual(cat.dim, 3)
        select: Any = calls.UnsqueezeCopy.of(
            graph.call(torch.ops.aten.unsqueeze_copy.default, (graph.tensor(0), -1), {})
        )
        self.assertEqual(select.dim, 0)
        squeeze: Any = calls.SqueezeCopyDim.of(graph.call(torch.ops.aten.squeeze_copy.dim, (graph.tensor(0), -1), {}))
        self.assertEqual(squeeze.dim, 0)

    def test_arguments_are_checked(self) -> None:
        with self.assertRaises(TypeError):
            calls.AddTensor.bind((1,), {})
        with self.assertRaises(TypeError):
            calls.AddTensor.bind((1, 2), {"factor": 2})

    def test_normalize(self) -> None:
        class Model(torch.nn.Module):
            def forward(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
                y = torch.ops.aten.convolution(x, weight, None, [1], [1], [1], False, [0], groups=1)
                pooled: torch.Tensor = torch.ops.aten.avg_pool2d(y, [2])
                return pooled.permute(0, -1, 1, 2)

        args = (torch.rand(1, 3, 6, 6), torch.rand(4, 3, 3, 3))
        program = torch.export.export(Model(), args)
        expected = program.module()(*args)
        normal_form.normalize(program)
        (convolution,) = (node for node, _ in calls.Convolution.each(program.graph.nodes))
        self.assertEqual(convolution.args[2:], (None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1))
        self.assertEqual(convolution.kwargs, {})
        (pool,) = (node for node, _ in calls.AvgPool2d.each(program.graph.nodes))
        self.assertEqual(pool.args[1:], ([2, 2], [2, 2], [0, 0], False, True, None))
        (permute,) = (node for node, _ in calls.Permute.each(program.graph.nodes))
        self.assertEqual(permute.args[1], [0, 3, 1, 2])
        program.graph_module.recompile()
        torch.testing.assert_close(program.module()(*args), expected, rtol=0, atol=0)


def _by_position(normal: list[tuple[Any, Any]]) -> list[Any]:
    return [value for argument, value in normal if not argument.kwarg_only]


def _by_keyword(normal: list[tuple[Any, Any]]) -> dict[str, Any]:
    return {argument.name: value for argument, value in normal if argument.kwarg_only}


def _list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


if __name__ == "__main__":
    absltest.main()
