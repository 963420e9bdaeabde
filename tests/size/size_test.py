"""The reports of real binaries, against what binutils' `size` says of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from absl.testing import absltest

_SIZE = shutil.which("size") or "size"


def _report(name: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(Path(os.environ[name]).with_suffix(".json").read_text())
    return report


def _bytes(report: dict[str, Any], group: str) -> dict[str, int]:
    """The bytes of each name of a group."""
    sums: dict[str, int] = {}
    for part in report["parts"]:
        if part["group"] == group:
            sums[part["name"]] = sums.get(part["name"], 0) + part["bytes"]
    return sums


class SizeTest(absltest.TestCase):
    def test_every_byte_is_counted_once(self) -> None:
        for name in ("QUICKSTART", "MOBILENET", "FAST"):
            listed = subprocess.run(
                [_SIZE, "-A", os.environ[f"{name}_BINARY"]], capture_output=True, text=True, check=True
            ).stdout
            # "<section> <size> <address>"; sections that are not in memory have the address 0.
            lines = [line.split() for line in listed.splitlines() if line.startswith(".")]
            in_memory = {line[0]: int(line[1]) for line in lines if int(line[2])}
            self.assertGreater(in_memory[".text"], 100_000)
            report = _report(name)
            self.assertEqual(report["bytes"], sum(in_memory.values()), name)
            self.assertEqual(sum(part["bytes"] for part in report["parts"]), report["bytes"], name)
            # What is said of a section as a whole is not more than the section has.
            for part in report["parts"]:
                section = part["name"].partition(":")[0]
                if part["group"] == "rest of the sections":
                    self.assertLessEqual(part["bytes"], in_memory[section], section)

    def test_operators(self) -> None:
        quickstart = _bytes(_report("QUICKSTART"), "operators")
        self.assertEqual(sorted(quickstart), ["aten::addmm.out", "my_ops::squareplus.out"])
        mobilenet = _bytes(_report("MOBILENET"), "operators")
        self.assertEqual(mobilenet.keys(), _bytes(_report("FAST"), "operators").keys())
        self.assertIn("aten::convolution.out", mobilenet)
        self.assertGreater(min(mobilenet.values()), 100)

    def test_instruction_sets_add_up(self) -> None:
        # Kernels are there once for any processor and once for each of at most five sets. What calls them is there
        # once, with the choice of a set.
        for group, least, most in (
            ("operators", 1.5, 6),
            ("code that kernels share", 1.5, 6),
            ("registration", 1, 1.5),
        ):
            once, several = (sum(_bytes(_report(name), group).values()) for name in ("MOBILENET", "FAST"))
            self.assertGreater(several, least * once, group)
            self.assertLess(several, most * once, group)

    def test_selected_dtypes_alone(self) -> None:
        # The model computes in Float, and its library has the kernels for no other dtype.
        parts = [part for part in _report("MOBILENET")["parts"] if part["group"] == "operators"]
        self.assertEqual({part["dtype"] for part in parts}, {"", "Float"})
        parts = [part for part in _report("FIRST")["parts"] if part["name"] == "aten::mm.out"]
        self.assertLessEqual({"Float", "Double"}, {part["dtype"] for part in parts})

    def test_little_has_no_owner(self) -> None:
        for name in ("QUICKSTART", "MOBILENET", "FAST"):
            report = _report(name)
            code = sum(_bytes(report, "other code and data").values())
            self.assertLess(code, report["bytes"] * 0.01, _bytes(report, "other code and data"))
            unowned = _bytes(report, "code that kernels share").get("kernels' code of no single operator", 0)
            self.assertLess(unowned, report["bytes"] * 0.02)

    def test_registration_and_libraries(self) -> None:
        report = _report("MOBILENET")
        self.assertEqual(list(_bytes(report, "registration")), ["//examples/mobilenet_v2:model_lib"])
        self.assertIn("libexecutorch.so", [library["name"] for library in report["libraries"]])
        self.assertGreater(sum(_bytes(report, "runner").values()), 10_000)

    def test_text_has_the_changes(self) -> None:
        text = Path(os.environ["MOBILENET"]).read_text()
        lines = {" ".join(line.split()) for line in text.splitlines()}
        before = _report("QUICKSTART")["bytes"]
        change = _report("MOBILENET")["bytes"] - before
        self.assertIn(f"against //examples/quickstart:model: {before:,} bytes, {change:+,}", lines)
        new = _bytes(_report("MOBILENET"), "operators")["aten::mean.out"]
        self.assertIn(f"aten::mean.out (operators) {new:,} +{new:,}", lines)
        gone = _bytes(_report("QUICKSTART"), "operators")["my_ops::squareplus.out"]
        self.assertIn(f"my_ops::squareplus.out (operators) 0 -{gone:,}", lines)

    def test_what_the_removal_of_operators_saves(self) -> None:
        """The binary without the operators is the judge."""
        first, both = _report("FIRST"), _report("BOTH")
        self.assertEqual(
            sum(shared["bytes"] for shared in both["shared"]), sum(_bytes(both, "code that kernels share").values())
        )
        removed = {"aten::exp.out", "aten::sum.IntList_out"}
        saved = sum(
            shared["bytes"]
            for shared in both["shared"]
            if removed.issuperset(shared["operators"]) and not shared["is_of_program"]
        )
        of_both, of_first = (sum(_bytes(report, "code that kernels share").values()) for report in (both, first))
        less = of_both - of_first
        self.assertGreater(less, 1000)
        self.assertAlmostEqual(saved, less, delta=0.05 * less)
        self.assertIn("\n    of aten::sum.IntList_out\n", Path(os.environ["BOTH"]).read_text())

    def test_what_another_model_would_add(self) -> None:
        first, both = _report("FIRST"), _report("BOTH")
        (added,) = first["what_if"]
        self.assertEqual(added["operators"], ["aten::exp.out", "aten::sum.IntList_out"])
        self.assertEqual(added["bytes"], sum(part["bytes"] for part in added["parts"]))
        # The binary with both models is the judge. Of strings and constants no name tells whether they are new.
        grown = both["bytes"] - first["bytes"]
        self.assertAlmostEqual(added["bytes"], grown, delta=0.15 * grown)
        for group, share in (("operators", 0.01), ("code that kernels share", 0.05), ("registration", 0.05)):
            more = sum(_bytes(both, group).values()) - sum(_bytes(first, group).values())
            self.assertAlmostEqual(sum(_bytes(added, group).values()), more, delta=share * more, msg=group)
        # A binary that has the other's operators already gains nothing that has a name.
        (nothing,) = both["what_if"]
        self.assertEqual(nothing["operators"], [])
        self.assertEqual([part for part in nothing["parts"] if part["group"] == "operators"], [])
        self.assertLess(nothing["bytes"], 100)
        text = Path(os.environ["FIRST"]).read_text()
        self.assertIn(
            f"what if the models of //tests/size:second_runner were added: {added['bytes']:,} bytes more, with 2 new "
            "operators\n  aten::exp.out\n  aten::sum.IntList_out\n",
            text,
        )


if __name__ == "__main__":
    absltest.main()
