"""Tests of which passes there are, of their order, and of those that a list of names stands for."""

import importlib
import pkgutil
import random
from pathlib import Path

from absl.testing import absltest, parameterized

import export
from diagnostics.errors import InputError
from export.graph_passes import passes, reference, rewrites
from export.graph_passes.graph_pass import GraphPass, Stage


class SelectTest(parameterized.TestCase):
    @parameterized.parameters(
        ("default,views", '["default", "views"]'),
        ("all, -views", '["all", "-views"]'),
        (" views", '["views"]'),
        ("-views\n", '["-views"]'),
        ("linear padding", '["linear", "padding"]'),
    )
    def test_names_in_one_string(self, name: str, fix: str) -> None:
        with self.assertRaises(InputError) as caught:
            passes.select(["all", name])
        (finding,) = caught.exception.findings
        self.assertEqual(finding.id, "unknown-graph-pass")
        self.assertEqual(finding.found, f"there is no pass {name!r}: a name has no commas and spaces")
        self.assertEqual(finding.fix, f"give a list of names: {fix}.")

    @parameterized.parameters("", "-", ",", " ", "--views", "default,vews")
    def test_no_names(self, name: str) -> None:
        with self.assertRaises(InputError) as caught:
            passes.select(["default", name])
        self.assertEqual(caught.exception.findings[0].id, "unknown-graph-pass")

    @parameterized.parameters(
        (["-all"], '["-all"] leaves out passes and has none', '["default", "-all"]'),
        (
            ["-views", "-linear"],
            '["-views", "-linear"] leaves out passes and has none',
            '["default", "-views", "-linear"]',
        ),
        (["default", "-all"], '["default", "-all"] leaves out all passes that it has', "[] is for no passes"),
        (["-default", "views"], '["-default", "views"] leaves out all passes that it has', "[] is for no passes"),
        (["all", "-all"], '["all", "-all"] has all and leaves all out', "one of the two"),
        (["all", "views", "-views"], '["all", "views", "-views"] has views and leaves views out', "one of the two"),
    )
    def test_contradictions(self, names: list[str], found: str, fix: str) -> None:
        with self.assertRaises(InputError) as caught:
            passes.select(names)
        (finding,) = caught.exception.findings
        self.assertEqual(finding.id, "contradictory-graph-passes")
        self.assertEqual(finding.found, found)
        self.assertIn(fix, finding.fix)


class ReferenceTest(absltest.TestCase):
    def test_table_of_the_page(self) -> None:
        page = (Path(export.__path__[0]) / "README.md").read_text()
        self.assertEqual(page, reference.updated(page), "update it: tools/bazel run //export:graph_passes_reference")
        for one in passes.PASSES:
            self.assertIn(f"| `{one.name}` | {one.reference} |", page)


class OrderTest(absltest.TestCase):
    def test_each_file_has_the_pass_of_its_name(self) -> None:
        files = {module.name for module in pkgutil.iter_modules(rewrites.__path__)}
        self.assertEqual({one.name for one in passes.PASSES}, files)
        for one in passes.PASSES:
            self.assertIs(importlib.import_module(f"{rewrites.__name__}.{one.name}").PASS, one)

    def test_behind_what_after_names(self) -> None:
        names = [one.name for one in passes.PASSES]
        for index, one in enumerate(passes.PASSES):
            self.assertLess(set(one.after), {*names[:index], ""}, one.name)
        self.assertSequenceEqual(passes.PASSES, sorted(passes.PASSES, key=lambda one: one.stage is Stage.LOWERED))
        shuffled = random.Random(1).sample(passes.PASSES, len(passes.PASSES))
        self.assertEqual(passes.ordered(shuffled), passes.PASSES)

    def test_no_order(self) -> None:
        def named(name: str, *after: str, stage: Stage = Stage.LOWERED) -> GraphPass:
            return GraphPass(name, stage, lambda *_: [], reference="", after=after)

        for wrong, message in (
            ([named("a", "b"), named("b", "a")], r"no order has a, b behind .* no such passes: \[\]"),
            ([named("a", "no_opps")], r"no such passes: \['no_opps'\]"),
            ([named("a", "b", stage=Stage.EXPORTED), named("b")], "no order has a, b behind"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                passes.ordered(wrong)


if __name__ == "__main__":
    absltest.main()
