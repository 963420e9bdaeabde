"""Tests of the check that an export makes of its own program: errors, warnings, and passes that are left out."""

from __future__ import annotations

import contextlib
import functools
import linecache
import os
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
from absl.testing import absltest
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer
from torch.export import ExportedProgram
from torch.fx import Node

from diagnostics.errors import InputError
from diagnostics.golden import case
from export.emulator import operators, plan
from export.emulator.operators import UnknownOperatorError
from export.emulator.tests.kinds import KINDS, Kind
from export.exporter import Exported, export
from export.graph_passes import graphs, passes
from export.graph_passes.call import Call
from export.graph_passes.calls import AddTensor, Exp, Neg
from export.graph_passes.graph_pass import Change, GraphPass, Rewrite, Stage
from export.memory import separate_values

# The calls that a pass rewrites, and the function that rewrites one.
_Rewrite = tuple[type[Call[Any]], Rewrite]

# Line 6 adds, line 10 too.
_TWO_METHODS = """\
import torch


class Adds(torch.nn.Module):
    def forward(self, x, y):
        return x.exp() + y


class Counts(torch.nn.Module):
    def forward(self, x): return x.exp()


def get_model():
    x = torch.tensor([1.0, 2.0])
    return {"adds": (Adds(), (x, x)), "counts": (Counts(), (x,))}
"""
_ONE_METHOD = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        z = x.exp()
        return z + y


def get_model():
    return Model(), (torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
"""

# Line 6 is the one with the condition. The entry point is at line 11.
_DYNAMIC = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        if {condition}:
            return x * 2 + x.shape[0]
        return x * 4


def get_model():
    return Model(), (torch.arange(6.0),)


def get_dynamic_shapes():
    return {{"x": {{0: torch.export.{size}}}}}
"""
_OWN_PASS = """

def get_aten_passes():
    def with_sin(program):
        for node in program.graph.nodes:
            if node.target is torch.ops.aten.exp.default:
                node.target = torch.ops.aten.sin.default
        return program

    return [with_sin]
"""


def _with_alpha(alpha: float) -> _Rewrite:
    """Returns a rewrite that multiplies the second summand of a sum by a number."""

    def rewrite(_: ExportedProgram, node: Node, add: AddTensor[Node]) -> Change:
        add.replace(alpha=alpha).write(node)
        return Change(node, "another sum")

    return AddTensor, rewrite


def _negate_twice(_: ExportedProgram, node: Node, exp: Exp[Node]) -> Change:
    source = Neg(exp.input).insert(node, graphs.value(node))
    Exp(Neg(source).insert(node, graphs.value(node))).write(node)
    return Change(node, "negated twice")


_NEGATED_TWICE: _Rewrite = (Exp, _negate_twice)


@contextlib.contextmanager
def _passes(**named: _Rewrite) -> Iterator[None]:
    """Has these passes only."""
    found = [
        GraphPass(name, Stage.LOWERED, roots=(root,), rewrite=rewrite, reference="")
        for name, (root, rewrite) in named.items()
    ]
    with (
        mock.patch.object(passes, "PASSES", found),
        mock.patch.object(passes, "_GROUPS", {"all": frozenset(named)}),
    ):
        yield


class CheckTest(case.TestCase):
    def export(self, source: str, *names: str, **options: Any) -> Exported:
        linecache.clearcache()  # Several model files of one test have the same path.
        self.write("model.py", source)
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            return export(self.directory / "model.py", graph_passes=names, **options)

    def test_right_program(self) -> None:
        exported = self.export(_TWO_METHODS)
        self.assertEqual(exported.warnings, ())
        checked = {name: str(one) for name, one in exported.checked.items()}
        expected = "1 of 1 samples and 3 drawn inputs have the results of the module"
        self.assertEqual(checked, {"adds": expected, "counts": expected})

    def test_wrong_pass_is_left_out(self) -> None:
        with _passes(a_right=_NEGATED_TWICE, b_wrong=_with_alpha(2), c_right=_NEGATED_TWICE):
            exported = self.export(_TWO_METHODS, "all")
        self.assert_findings(exported.warnings, "graph-pass-failed model.py:6:1")
        self.assertEqual([one.severity for one in exported.warnings], ["warning"])
        self.assertIn("the difference starts at aten::add.out", exported.warnings[0].found)
        left_out = {
            (method, one.name): one.left_out
            for method, of in exported.graph_passes.items()
            for one in of
            if one.left_out
        }
        words = "the program is wrong with the pass"
        self.assertEqual(left_out, {("adds", "b_wrong"): words, ("counts", "b_wrong"): words})
        kept = [one.name for one in exported.graph_passes["adds"] if one.changes]
        self.assertEqual(kept, ["a_right", "c_right"])
        x = torch.tensor([1.0, 2.0])
        (result,) = _load_for_executorch_from_buffer(exported.pte).run_method("adds", (x, x))
        torch.testing.assert_close(result, x.exp() + x)

    def test_wrong_pass_is_an_error(self) -> None:
        with _passes(wrong=_with_alpha(2)):
            self.assert_refused(
                lambda: self.export(_ONE_METHOD, "all", strict_passes=True), "wrong-program model.py:7:1"
            )

    def test_without_check(self) -> None:
        with _passes(wrong=_with_alpha(2)):
            exported = self.export(_ONE_METHOD, "all", with_check=False)
        self.assertEqual((exported.checked, exported.warnings), ({}, ()))
        x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
        (result,) = _load_for_executorch_from_buffer(exported.pte).run_method("forward", (x, y))
        torch.testing.assert_close(result, x.exp() + 2 * y)

    def test_wrong_without_passes(self) -> None:
        source = KINDS["two conds on one input"].source()
        with mock.patch.object(separate_values, "separate"):
            for names in ((), ("default",)):
                self.assert_refused(functools.partial(self.export, source, *names), "wrong-program model.py:14:1")
        self.assertEqual(self.export(source, "default").warnings, ())

    def test_loop_over_bytes_in_another_order(self) -> None:
        """ExecuTorch's loops copy the bytes of each row, whatever the dim order of the row is."""
        source = KINDS["a map of a channels-last input"].source()
        with mock.patch.object(separate_values, "separate"):
            self.assert_refused(functools.partial(self.export, source), "wrong-program model.py:13:1")
        self.assertEqual(self.export(source).warnings, ())

    def test_wrong_pass_beside_branches(self) -> None:
        # Each attempt without some of the passes begins with the branches as they were.
        source = KINDS["two conds on one input"].source()
        with _passes(a_right=_NEGATED_TWICE, b_wrong=_with_alpha(2), c_right=_NEGATED_TWICE):
            exported = self.export(source, "all")
        self.assertEqual([one.id for one in exported.warnings], ["graph-pass-failed"])
        self.assertIn("with the graph pass b_wrong, the program of forward() is wrong", exported.warnings[0].found)

    def test_other_sizes(self) -> None:
        for size in ("Dim('n', max=20)", "Dim.AUTO(max=20)", "Dim.DYNAMIC(min=2, max=20)"):
            exported = self.export(_DYNAMIC.format(condition="True", size=size), "default")
            (checked,) = exported.checked.values()
            # Sizes of 5, of 13, and the smallest one.
            self.assertEqual(str(checked), "1 of 1 samples and 6 drawn inputs have the results of the module", size)

    def test_sizes_that_behave_in_another_way(self) -> None:
        """torch.export narrows the sizes of hints without a word, and programs do not check lower bounds."""
        for condition in (
            "x.shape[0] > 4",
            # The module refuses the smallest size.
            "x[1] is not None and x.shape[0] > 4",
            "x.shape[0] % 2 == 0",
            "int(x.shape[0] * 0.5) == 3",
        ):
            source = _DYNAMIC.format(condition=condition, size="Dim.AUTO(max=20)")
            self.assert_refused(functools.partial(self.export, source, "default"), "narrowed-size model.py:6:1")

    def test_sizes_of_two_inputs(self) -> None:
        for condition in ("x.shape[0] != y.shape[0]", "x.shape[0] > y.shape[0]"):
            source = _DYNAMIC.format(condition=condition, size="Dim.AUTO(max=20)").replace("self, x", "self, x, y")
            source = source.replace("(torch.arange(6.0),)", "(torch.arange(6.0), torch.arange(5.0))")
            source = source.replace(
                '{"x": {0: torch.export.Dim.AUTO(max=20)}}', "2 * ({0: torch.export.Dim.AUTO(max=20)},)"
            )
            self.assert_refused(functools.partial(self.export, source, "default"), "narrowed-size model.py:6:1")

    def test_sizes_that_a_condition_excludes(self) -> None:
        """Sizes of 9, and of 7, which are neither the next ones to that of the sample nor the largest ones."""
        for condition in ("x.shape[0] != 9", "x.shape[0] % 7 > 0"):
            source = _DYNAMIC.format(condition=condition, size="Dim.AUTO(max=20)")
            found = self.places(functools.partial(self.export, source, "default"))
            self.assertEqual(found, ["narrowed-size model.py:6:1"])

    def test_sizes_of_the_results_of_a_loop(self) -> None:
        """ExecuTorch's runtime ends such a program with an error."""
        source = _DYNAMIC.format(condition="x.sum() is not None", size="Dim.AUTO(min=2, max=20)")
        source = source.replace("x * 2 + x.shape[0]", "map_rows(lambda row: row * 2, x)").replace("{0: ", "{1: ")
        source = source.replace(
            "import torch\n", "import torch\nfrom torch._higher_order_ops import map as map_rows\n", 1
        )
        source = source.replace("arange(6.0)", "ones(2, 6)")
        self.assert_refused(lambda: self.export(source), "wrong-program model.py:8:1")

    def test_samples_of_other_sizes(self) -> None:
        """The line of the model does something else for the second sample than for the example."""
        source = _DYNAMIC.format(condition="x.shape[0] % 2 == 0", size="Dim.AUTO(max=20)")
        source += "def get_sample_inputs(): return [(torch.arange(6.0),), (torch.arange(7.0),)]\n"
        self.assert_refused(lambda: self.export(source, "default"), "narrowed-size model.py:6:1")

    def test_sizes_of_a_quantized_module(self) -> None:
        source = _DYNAMIC.format(condition="True", size="Dim.AUTO(max=20)").replace("arange(6.0)", "ones(6, 4)")
        source = source.replace("x * 2 + x.shape[0]", "(x @ torch.ones(4, 4))[: int(x.shape[0] * 0.5)]")
        self.assert_refused(lambda: self.export(source, quantize="xnnpack_int8"), "wrong-program model.py:11:1")

    def test_sizes_that_the_module_refuses(self) -> None:
        source = _DYNAMIC.format(condition="x.reshape(2, -1) is not None", size="Dim.AUTO(max=20)")
        (checked,) = self.export(source, "default").checked.values()
        # A size of 2, which a condition of reshape() excludes.
        self.assertEqual(str(checked), "1 of 1 samples and 4 drawn inputs have the results of the module")

    def test_jump_is_a_warning(self) -> None:
        """A rounding error decides which of two almost equal elements is the largest one."""
        source = _ONE_METHOD.replace("x.exp()", "x * 2.0").replace("return z + y", "return (z + y).argmax()")
        source = source.replace("[1.0, 2.0]", "[1.0, 1.25]").replace("[3.0, 4.0]", "[0.5, 0.0]")
        with _passes(rounds=_with_alpha(1 - 1e-6)):
            exported = self.export(source, "all")
        self.assert_findings(exported.warnings, "wrong-program model.py:7:1")
        self.assertEqual([one.severity for one in exported.warnings], ["warning"])

    def test_random_numbers_are_a_warning(self) -> None:
        exported = self.export(_ONE_METHOD.replace("x.exp()", "torch.rand_like(x)"))
        (warning,) = exported.warnings
        self.assertEqual((warning.id, warning.severity), ("wrong-program", "warning"))
        self.assertRegex(warning.cause, r"the model draws random numbers: aten::rand")

    def test_other_results_each_time(self) -> None:
        for before, factor in (("N = [0]", "N.append(0) or len(N)"), ("import random", "random.random()")):
            source = f"{before}\n" + _ONE_METHOD.replace("x.exp()", f"x * ({factor})")
            source += "def get_sample_inputs(): return [get_model()[1]] * 3\n"
            with self.assertRaisesRegex(
                InputError, r"model.py:11:1: .* gives other results in another run with the same"
            ):
                self.export(source)

    def test_own_pass_is_a_warning(self) -> None:
        exported = self.export(_ONE_METHOD + _OWN_PASS)
        self.assert_findings(exported.warnings, "wrong-program model.py:10:1")
        self.assertEqual([one.severity for one in exported.warnings], ["warning"])

    def test_as_exact_as_the_module(self) -> None:
        """The module gives 0, the program 8. The exact result is 3."""
        source = _ONE_METHOD.replace("return z + y", "return (x + y) - x").replace("z = x.exp()", "")
        source = source.replace("[1.0, 2.0]", "[1e8, 1e8]").replace("[3.0, 4.0]", "[3.0, 3.0]")
        with _passes(rounds=_with_alpha(2)):
            exported = self.export(source, "all")
        self.assertEqual(exported.warnings, ())
        self.assertEqual([one.name for one in exported.graph_passes["forward"] if one.changes], ["rounds"])

    def test_operator_that_raises(self) -> None:
        """In ExecuTorch's program, the state of a scan keeps its largest sizes."""
        lines = "from torch._higher_order_ops.scan import scan\nreturn scan(lambda c, a: (c + a, c * 2), x0[0] * 0, x0)"
        source = Kind(lines, ("torch.randn(4, 6)",)).source()
        source += "\n\ndef get_dynamic_shapes():\n    return ({1: torch.export.Dim('n', max=16)},)\n"
        with self.assertRaises(InputError) as caught:
            self.export(source)
        (finding,) = caught.exception.findings
        self.assertEqual(finding.id, "wrong-program")
        self.assertIn("aten::copy_ raised RuntimeError: The size of tensor a (16) must match", finding.found)

    def test_unknown_operator(self) -> None:
        with mock.patch.object(operators, "find", side_effect=UnknownOperatorError("PyTorch has no operator a::b")):
            exported = self.export(_ONE_METHOD)
        self.assertEqual(str(exported.checked["forward"]), "not run: PyTorch has no operator a::b")

    def test_fault_of_the_emulator(self) -> None:
        with mock.patch.object(plan, "check", side_effect=KeyError("a value")):
            exported = self.export(_ONE_METHOD)
            with self.assertRaisesRegex(InputError, "raised KeyError"):
                self.export(_ONE_METHOD, strict_passes=True)
        self.assertEqual(str(exported.checked["forward"]), "not run: the check raised KeyError: 'a value'")
        (warning,) = exported.warnings
        self.assertEqual((warning.id, warning.severity), ("wrong-program", "warning"))
        self.assertIn("the check of forward() raised KeyError: 'a value'", warning.found)


if __name__ == "__main__":
    absltest.main()
