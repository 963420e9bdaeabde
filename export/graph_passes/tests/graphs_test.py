"""Tests of what passes share: new constants, and the loop over calls."""

from __future__ import annotations

import torch
from absl.testing import absltest
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.exir.tensor import dim_order_from_stride
from torch import nn
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.call import Call
from export.graph_passes.calls import Exp, Neg, Relu, Sigmoid
from export.graph_passes.graph_pass import Change, Sites


def _lowered(module: nn.Module, *inputs: object) -> ExportedProgram:
    edge = to_edge_transform_and_lower(
        torch.export.export(module, inputs), compile_config=EdgeCompileConfig(_check_ir_validity=False)
    )
    program: ExportedProgram = edge.exported_program()
    return program


class _Scaled(nn.Module):
    """A module with a parameter, a buffer and a constant of each kind."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3))
        self.mean: torch.Tensor
        self.scale: torch.Tensor
        self.register_buffer("mean", torch.rand(3))
        self.register_buffer("scale", torch.rand(3), persistent=False)
        self.shift = torch.rand(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight * self.scale + self.mean + self.shift


class AddConstantTest(absltest.TestCase):
    def test_each_holds_what_it_was_given(self) -> None:
        module, x = _Scaled(), torch.rand(3)
        program = _lowered(module, x)
        taken = [*program.state_dict, *program.constants, *(node.name for node in program.graph.nodes)]
        given = {}
        for name in (*taken, "new", "new", "new_1", "new"):
            tensor = torch.rand(2, 5)
            given[graphs.add_constant(program, name, tensor)] = tensor
        self.assertLen(given, len(taken) + 4)
        for node, tensor in given.items():
            torch.testing.assert_close(graphs.constant(program, node), tensor)
            self.assertEqual(graphs.value(node).shape, tensor.shape)
        # What the program had, it has.
        torch.testing.assert_close(program.module()(x), module(x))
        graphs.finish(program)
        torch.testing.assert_close(program.module()(x), module(x))
        self.assertFalse({node.name for node in given} & {node.name for node in program.graph.nodes})

    def test_names_of_constants_that_are_gone(self) -> None:
        program = _lowered(_Scaled(), torch.rand(3))
        for _ in range(3):
            tensor = torch.rand(4)
            torch.testing.assert_close(graphs.constant(program, graphs.add_constant(program, "new", tensor)), tensor)
            graphs.finish(program)

    def test_takes_views(self) -> None:
        program = _lowered(_Scaled(), torch.rand(3))
        weight = nn.Parameter(torch.rand(4, 2))
        node = graphs.add_constant(program, "new", weight.t())
        self.assertTrue(graphs.value(node).is_contiguous())
        torch.testing.assert_close(graphs.constant(program, node), weight.detach().t())

    def test_dim_order_where_sizes_are_1(self) -> None:
        program = _lowered(_Scaled(), torch.rand(3))
        tensor = torch.rand(3, 4, 1).permute(2, 0, 1)
        self.assertNotEqual(dim_order_from_stride(tensor.stride()), (0, 1, 2))
        node = graphs.add_constant(program, "new", tensor)
        self.assertEqual(dim_order_from_stride(graphs.value(node).stride()), (0, 1, 2))
        torch.testing.assert_close(graphs.constant(program, node), tensor)

    def test_methods_whose_first_input_is_no_tensor(self) -> None:
        class Sum(nn.Module):
            def forward(self, number: int, x: torch.Tensor) -> torch.Tensor:
                return x * x

        class Nothing(nn.Module):
            def forward(self) -> torch.Tensor:
                return torch.ones(3) + 1.0

        for module, inputs in ((Sum(), (2, torch.rand(3))), (Nothing(), ())):
            program = _lowered(module, *inputs)
            tensor = torch.rand(4)
            torch.testing.assert_close(graphs.constant(program, graphs.add_constant(program, "new", tensor)), tensor)
            torch.testing.assert_close(program.module()(*inputs), module(*inputs))


class _Chain(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.exp(torch.neg(torch.relu(torch.neg(x))))


def _exported(module: nn.Module, *inputs: object) -> ExportedProgram:
    return torch.export.export(module, inputs)


class RewriteTest(absltest.TestCase):
    def _names(self, program: ExportedProgram) -> list[str]:
        graphs.finish(program)
        return [
            graphs.name_of(node).removeprefix("aten::") for node in program.graph.nodes if node.op == "call_function"
        ]

    def test_by_a_call_and_by_a_node(self) -> None:
        def rewrite(_: ExportedProgram, node: Node, call: Neg[Node] | Relu[Node]) -> Change | None:
            if isinstance(call, Relu):
                return Change(node, "a function made another one", Sigmoid(call.input))
            return Change(node, "no negation", call.input)

        for export in (_exported, _lowered):
            program = export(_Chain(), torch.rand(3))
            sites = Sites(program)
            changes = sites.rewrite((Relu, Neg), rewrite)
            self.assertEqual(
                [one.what for one in changes], ["no negation", "a function made another one", "no negation"]
            )
            self.assertIsNone(sites.current)
            self.assertEqual(self._names(program), ["sigmoid", "exp"])
            x = torch.rand(3)
            torch.testing.assert_close(program.module()(x), torch.exp(torch.sigmoid(x)))

    def test_calls_that_are_left_out_or_gone(self) -> None:
        seen: list[str] = []

        def remove_next(program: ExportedProgram, node: Node, call: Call[Node]) -> Change | None:
            seen.append(node.name)
            for user in [one for one in node.users if Neg.of(one)]:
                graphs.replace(user, node)
            return None

        program = _exported(_Chain(), torch.rand(3))
        self.assertEmpty(Sites(program, left_out=("neg",)).rewrite((Exp, Neg, Relu), remove_next))
        self.assertEqual(seen, ["relu", "exp"])

    def test_the_current_call_is_known_if_a_rewrite_raises(self) -> None:
        def fail_at_relu(_: ExportedProgram, node: Node, call: Call[Node]) -> None:
            if isinstance(call, Relu):
                raise ValueError(node.name)

        sites = Sites(_exported(_Chain(), torch.rand(3)))
        with self.assertRaisesRegex(ValueError, "relu"):
            sites.rewrite((Exp, Neg, Relu), fail_at_relu)
        self.assertEqual(str(sites.current), "relu")


if __name__ == "__main__":
    absltest.main()
