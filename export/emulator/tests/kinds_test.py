"""Exports modules of all kinds of kinds.py, and runs the programs with all kernels.

Each export runs its program and compares the results with the module's.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from absl import flags
from absl.testing import absltest

from export.emulator.tests.kinds import KINDS, Kind
from export.exporter import export

_RUNNER = flags.DEFINE_string("runner", None, "An executorch_binary of all kernels, without a program.", required=True)
_FAMILY = 12


class KindsTest(absltest.TestCase):
    """Has a test for each dozen of kinds."""

    def check(self, kind: Kind, *passes: str, warnings: Sequence[str] = ()) -> None:
        folder = Path(self.create_tempdir().full_path)
        (folder / "model.py").write_text(kind.source())
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            exported = export(folder / "model.py", graph_passes=passes, strict_passes=True)
        self.assertEqual([one.id for one in exported.warnings], [*warnings])
        checked = exported.checked["forward"]
        self.assertEqual((checked.left_out, checked.samples), ("", 3), str(checked))
        program, samples = folder / "model.pte", folder / "model.ptd"
        program.write_bytes(exported.pte)
        samples.write_bytes(exported.ptd)
        command = [_RUNNER.value, f"--program={program}", f"--samples={samples}", "--check"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_order_of_equal_elements(self) -> None:
        # The kernels have the order of the samples, which is not PyTorch's.
        for order in ("x0.topk(90, largest=False)[1]", "x0.sum(1).topk(25, sorted=False)[1]"):
            with self.subTest(order):
                kind = Kind(f"return x1.flatten()[{order}]", ("torch.randint(4, (40, 100))", "torch.randn(100)"))
                self.check(kind, warnings=["equal-elements"])


def _test(first: int) -> Callable[[KindsTest], None]:
    def test(self: KindsTest) -> None:
        for number, name in [*enumerate(KINDS)][first : first + _FAMILY]:
            # The other passes are a superset of the default ones, which a third of the kinds has, too.
            for passes in ((), ("all",), *([("default",)] if number % 3 == 0 else [])):
                with self.subTest(name, passes=passes):
                    self.check(KINDS[name], *passes)

    return test


for _first in range(0, len(KINDS), _FAMILY):
    setattr(KindsTest, f"test_kinds_from_{_first}", _test(_first))


if __name__ == "__main__":
    absltest.main()
