"""Tests of passes that raise, or after which ExecuTorch fails: the export goes on without what they were about."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any
from unittest import mock

from absl.testing import absltest
from torch.export import ExportedProgram
from torch.fx import Node

from diagnostics.errors import InputError, Location
from export.exporter import Exported
from export.graph_passes import graphs, normal_form, passes, report
from export.graph_passes.call import Call
from export.graph_passes.calls import DivTensor, Exp, MulTensor, Neg
from export.graph_passes.graph_pass import Change, GraphPass, Rewrite, Sites, Stage
from export.graph_passes.tests.pass_test_case import PassTestCase, model_file


def _pass(name: str, root: type[Call[Any]], rewrite: Rewrite, stage: Stage = Stage.LOWERED) -> GraphPass:
    return GraphPass(name, stage, roots=(root,), rewrite=rewrite, reference="")


def _give_unknown_arguments(_: ExportedProgram, node: Node, __: object) -> Change:
    """Gives a call arguments that the operator does not have, so that ExecuTorch fails after the pass."""
    node.args = (*node.args, 1, 2, 3)
    return Change(node, "arguments that there are not")


def _negate_twice(_: ExportedProgram, node: Node, exp: Exp[Node]) -> Change:
    source = Neg(exp.input).insert(node, graphs.value(node))
    return Change(node, "negated twice", Exp(Neg(source).insert(node, graphs.value(node))))


def _see(_: ExportedProgram, node: Node, __: object) -> Change:
    return Change(node, "seen")


def _raise(_: ExportedProgram, node: Node, __: object) -> Change:
    raise ValueError(f"no {node.name}")


class FailuresTest(PassTestCase):
    # Line 12 multiplies by 2, line 13 by 3, line 14 by 4.
    _SOURCE = model_file(
        "y = x * 2.0\ny = y.exp() * 3.0\nreturn y * 4.0 + z", "torch.rand(2), torch.rand(2)", takes="x, z"
    )

    @contextlib.contextmanager
    def _passes(self, *found: GraphPass, is_run: bool = True) -> Iterator[None]:
        """Has these passes only, after each of which the graph is run if it can be."""
        with (
            mock.patch.object(passes, "PASSES", found),
            mock.patch.object(passes, "_GROUPS", {"all": frozenset(one.name for one in found)}),
            contextlib.nullcontext() if is_run else mock.patch.object(passes, "run", self._run_passes),
        ):
            yield

    def _lines(self, exported: Exported) -> list[tuple[str, int]]:
        """The messages of warnings, and their lines."""
        places = [(one.found, one.where) for one in exported.warnings]
        return [(found, where.line) for found, where in places if isinstance(where, Location)]

    def test_one_call_stays_as_it_was(self) -> None:
        def negate_twice(program: ExportedProgram, node: Node, product: MulTensor[Node]) -> Change:
            """Writes a product as the one of the negated, and fails in the middle."""
            # Each of the two steps alone makes the program wrong.
            source = Neg(product.input).insert(node, graphs.value(product.input))
            product.replace(input=source).write(node)
            if graphs.number(program, product.other) == 3:
                raise IndexError("of threes")
            negated = Neg(node).insert(node.next, graphs.value(node))
            node.replace_all_uses_with(negated, lambda user: user is not negated)
            return Change(node, "negated twice")

        with self._passes(_pass("negated_twice", MulTensor, negate_twice)):
            exported = self.export(self._SOURCE, ["all"], strict=False)
        self.check_values(exported)
        self.assertIn("aten::neg.out", self.calls(exported))
        self.assertEqual(self.changes(exported, "negated_twice"), ["negated twice"] * 2)
        found = "the graph pass negated_twice raised IndexError at aten::mul.Tensor in forward(): of threes"
        self.assertEqual(self._lines(exported), [(found, 13)])
        (warning,) = exported.warnings
        self.assertEqual((warning.id, warning.severity), ("graph-pass-failed", "warning"))
        self.assertIn("a fault of rules_executorch", warning.cause)
        self.assertIn("report", warning.fix)
        self.assertIn('graph_passes = [..., "-negated_twice"]', warning.fix)
        text = report.as_text(exported.graph_passes, exported.checked)
        self.assertIn(f"negated_twice: 2 changes\n    2: negated twice; {self.folder}/model.py:12:1", text)
        self.assertIn(f"left as it was: {self.folder}/model.py:13:1: {found}", text)
        (of_pass,) = json.loads(report.as_json(exported.graph_passes, exported.checked))["methods"]["forward"]
        self.assertEqual(of_pass["failures"], [{"at": f"{self.folder}/model.py:13:1", "found": found}])

    def test_without_a_call(self) -> None:
        def lost(_: ExportedProgram, sites: Sites) -> list[Change]:
            for node, _product in MulTensor.each(sites):
                node.args = node.args[::-1]
            raise KeyError("nothing")

        with self._passes(_pass("sees", MulTensor, _see), GraphPass("lost", Stage.LOWERED, run=lost, reference="")):
            exported = self.export(self._SOURCE, ["all"], strict=False)
        self.check_values(exported)
        self.assertEqual(self.changes(exported, "sees"), ["seen"] * 3)
        self.assertEqual(
            self._lines(exported), [("the graph pass lost raised KeyError in forward(): 'nothing'", mock.ANY)]
        )
        self.assertIn(
            "lost: left out: the pass raised KeyError", report.as_text(exported.graph_passes, exported.checked)
        )

    def test_everywhere(self) -> None:
        """A pass that fails at more calls than one may is left out."""
        with self._passes(_pass("fails", MulTensor, _raise)):
            self.assertLen(self.export(self._SOURCE, ["all"], strict=False).warnings, 3)
            with mock.patch.object(passes, "_MOST_FAILURES", 2):
                exported = self.export(self._SOURCE, ["all"], strict=False)
        self.assertLen(exported.warnings, 3)
        self.assertIn(
            "fails: left out: the pass raised ValueError", report.as_text(exported.graph_passes, exported.checked)
        )

    def test_broken_graph(self) -> None:
        """A pass that leaves a graph that is none has raised."""

        def out_of_order(_: ExportedProgram, node: Node, product: MulTensor[Node]) -> Change:
            product.replace(input=node.next).write(node)
            return Change(node, "broken")

        with self._passes(_pass("out_of_order", MulTensor, out_of_order)):
            exported = self.export(self._SOURCE, ["all"], strict=False)
        self.check_values(exported)
        self.assertIn(
            "out_of_order: left out: the pass raised", report.as_text(exported.graph_passes, exported.checked)
        )

    def test_executorch_fails_behind_a_pass(self) -> None:
        good = [_pass(name, Exp, _negate_twice) for name in ("a_good", "c_good")]
        with self._passes(good[0], _pass("b_bad", MulTensor, _give_unknown_arguments), good[1], is_run=False):
            exported = self.export(self._SOURCE, ["all"], strict=False)
            with self.assertRaises(InputError):
                self.export(self._SOURCE, ["all"], strict=True)
        self.check_values(exported)
        self.assertIn("aten::neg.out", self.calls(exported))
        self.assertEqual([self.changes(exported, name) for name in ("a_good", "c_good")], [["negated twice"]] * 2)
        (of_bad,) = (one for one in exported.graph_passes["forward"] if one.name == "b_bad")
        self.assertRegex(of_bad.left_out, "ExecuTorch raised .* after the pass")
        self.assertRegex(self._lines(exported)[0][0], "ExecuTorch raised .* after the graph pass b_bad: ")
        places = [f"{self.folder}/model.py:{line}:1: arguments that there are not" for line in (12, 13, 14)]
        self.assertSequenceEqual(exported.warnings[0].details, places)

    def test_executorch_fails_behind_a_pass_before_its_lowering(self) -> None:
        def divide(_: ExportedProgram, node: Node, product: MulTensor[Any]) -> Change:
            """Writes another operator of the same results, which shows in the program."""
            return Change(node, "divides", DivTensor(product.input, 1 / product.other))

        good = [_pass(name, MulTensor, divide, Stage.EXPORTED) for name in ("a_good", "c_good")]
        bad = _pass("b_bad", Exp, _give_unknown_arguments, Stage.EXPORTED)
        with self._passes(good[0], bad, good[1], _pass("lowered", DivTensor, _see), is_run=False):
            exported = self.export(self._SOURCE, ["all"], strict=False)
            with self.assertRaises(InputError):
                self.export(self._SOURCE, ["all"], strict=True)
        self.check_values(exported)
        self.assertIn("aten::div.out", self.calls(exported))
        self.assertEqual(self.changes(exported, "a_good"), ["divides"] * 3)
        self.assertEqual(self.changes(exported, "lowered"), ["seen"] * 3)
        place = f"{self.folder}/model.py:13:1: arguments that there are not"
        self.assertSequenceEqual(exported.warnings[0].details, [place])
        self.assertRegex(self._lines(exported)[0][0], "ExecuTorch raised .* after the graph pass b_bad: ")

    def test_sizes_that_depend_on_data(self) -> None:
        """PyTorch lowers a method again, whose sizes depend on data."""
        good = _pass("good", Exp, _see, Stage.EXPORTED)
        source = model_file(
            """
            count, factor = counts.tolist()
            torch._check(0 <= count)
            torch._check(count <= 6)
            return x.exp()[:count].sum(0) * factor
            """,
            "torch.rand(6, 8)",
            "torch.tensor([2, 3])",
            takes="x, counts",
        )
        with self._passes(good, _pass("bad", Exp, _give_unknown_arguments), is_run=False):
            exported = self.export(source, ["all"], strict=False)
        self.check_values(exported)
        self.assertRegex(self._lines(exported)[0][0], "ExecuTorch raised .* after the graph pass bad: ")

    def test_executorch_fails_without_passes(self) -> None:
        """What no pass is to blame for is reported as before, once."""
        refused = model_file("return None", "torch.rand(2)", takes="x")
        with self._passes(_pass("sees", MulTensor, _see)), self.assertRaises(InputError) as caught:
            self.export(refused, ["all"], strict=False)
        self.assertNotIn("graph pass", str(caught.exception))

    def test_no_normal_form(self) -> None:
        with mock.patch.object(normal_form, "normalize", side_effect=KeyError("no view")):
            exported = self.export(self._SOURCE, ["default"], strict=False)
            with self.assertRaises(InputError) as caught:
                self.export(self._SOURCE, ["default"], strict=True)
        self.check_values(exported)
        (warning,) = exported.warnings
        self.assertEqual(warning.found, "the preparation of forward() for graph passes raised KeyError: 'no view'")
        self.assertIn("graph_passes = []", warning.fix)
        self.assertEqual(caught.exception.findings[0].found, warning.found)
        self.assertIn(
            "views: left out: the preparation of the graph failed",
            report.as_text(exported.graph_passes, exported.checked),
        )

    def test_strict(self) -> None:
        for stage in Stage:
            failing = _pass("views", MulTensor, _raise, stage)
            with mock.patch.object(passes, "PASSES", (failing,)), self.assertRaises(InputError) as caught:
                self.export(self._SOURCE, ["views"])
            (finding,) = caught.exception.findings
            self.assertEqual((finding.id, finding.severity), ("graph-pass-failed", "error"))
            self.assertRegex(
                finding.found, r"^the graph pass views raised ValueError at aten::mul.* in forward\(\): no "
            )
            self.assertEqual(finding.where, Location(f"{self.folder}/model.py", 12, 1))
            self.assertIn("y = x * 2.0", "".join(finding.details))


if __name__ == "__main__":
    absltest.main()
