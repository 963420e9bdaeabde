"""Tests of which passes there are, of their order, and of those that a list of names stands for."""

from __future__ import annotations

import importlib
import json
import pkgutil
import random
import textwrap
from pathlib import Path

from absl.testing import absltest

import export
from diagnostics.golden import case
from export.graph_passes import passes, reference, report, rewrites
from export.graph_passes.graph_pass import GraphPass, Stage
from export.graph_passes.tests.pass_test_case import (
    PassTestCase,
    model_file,
)


class SelectTest(case.TestCase):
    def _assert_refused(self, id_: str, *names: str) -> None:
        self.assert_refused(lambda: passes.select(names), f"{id_} attribute graph_passes")

    def test_names_in_one_string(self) -> None:
        for name in ("default,views", "all, -views", " views", "-views\n", "linear padding"):
            self._assert_refused("unknown-graph-pass", "all", name)

    def test_no_names(self) -> None:
        for name in ("", "-", ",", " ", "--views", "default,vews"):
            self._assert_refused("unknown-graph-pass", "default", name)

    def test_unknown_name(self) -> None:
        for name in ("linaer", "-linaer"):
            self._assert_refused("unknown-graph-pass", "default", name)

    def test_contradictions(self) -> None:
        for names in (
            ("-all",),
            ("-views", "-linear"),
            ("default", "-all"),
            ("-default", "views"),
            ("all", "-all"),
            ("all", "views", "-views"),
        ):
            self._assert_refused("contradictory-graph-passes", *names)


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
            return GraphPass(name, stage, reference="", after=after)

        for wrong, message in (
            ([named("a", "b"), named("b", "a")], r"no order has a, b after .* no such passes: \[\]"),
            ([named("a", "no_opps")], r"no such passes: \['no_opps'\]"),
            ([named("a", "b", stage=Stage.EXPORTED), named("b")], "no order has a, b after"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                passes.ordered(wrong)


class SelectionTest(PassTestCase):
    def test_groups(self) -> None:
        default = [
            "padding_modes",
            "batch_norm",
            "padding",
            "no_ops",
            "broadcast_matmul",
            "constants",
            "quantized_moves",
            "tied_weights",
            "in_place",
            "views",
        ]
        self.assertEqual(passes.select(["all"]), passes.PASSES)
        self.assertEqual([one.name for one in passes.select(["default"])], default)
        self.assertEqual([one.name for one in passes.select(["views", "linear", "views"])], ["linear", "views"])
        self.assertEqual(passes.select([]), ())
        self.assertEqual(
            [one.name for one in passes.select(["default", "-views", "-padding"])],
            [name for name in default if name not in ("views", "padding")],
        )

    def test_none(self) -> None:
        exported = self.export(model_file("return x.clone() + 1.0", "torch.rand(2)"), [])
        self.assertIn("dim_order_ops::_clone_dim_order.out", self.calls(exported))
        self.assertEqual(
            report.as_text(exported.graph_passes, exported.checked),
            "forward: no graph passes\n  check: 1 of 1 samples and 3 drawn inputs have the results of the module\n",
        )
        self.assertEqual(report.as_text(exported.graph_passes, {}), "forward: no graph passes\n  check: left out\n")

    def test_reports(self) -> None:
        exported = self.export(
            model_file("y = x.clone() + 1.0\nreturn y.expand(2) * x.clone()", "torch.rand(2)"), ["no_ops", "views"]
        )
        model = f"{self.folder}/model.py"
        self.assertEqual(
            report.as_text(exported.graph_passes, exported.checked),
            textwrap.dedent(
                f"""\
                forward:
                  no_ops: 3 changes
                    1: aten::expand_copy that changes nothing; {model}:13:1
                    2: dim_order_ops::_clone_dim_order that changes nothing; {self.folder}/model.py:12:1, {model}:13:1
                  views: 0 changes
                  check: 1 of 1 samples and 3 drawn inputs have the results of the module
                """
            ),
        )
        written = json.loads(report.as_json(exported.graph_passes, exported.checked))
        self.assertEqual(written["checks"], {"forward": str(exported.checked["forward"])})
        self.assertEqual(json.loads(report.as_json(exported.graph_passes, {}))["checks"], {"forward": "left out"})
        of_method = written["methods"]["forward"]
        self.assertEqual([one["name"] for one in of_method], ["no_ops", "views"])
        self.assertEqual(of_method[0]["changes"][0]["at"], f"{self.folder}/model.py:12:1")
        self.assertEqual(of_method[0]["left_out"], "")

    def test_delegates_keep_what_they_want(self) -> None:
        init = "self.layers = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())"
        source = model_file("return self.layers(x).cumsum(1)[:] + 1.0", "torch.rand(1, 3, 6, 6)", init=init)
        with_passes, without = (self.export(source, names, backends=["xnnpack"]) for names in (["all"], []))
        self.assertEqual(with_passes.delegations["forward"].delegates, without.delegations["forward"].delegates)
        self.check_values(with_passes)


if __name__ == "__main__":
    absltest.main()
