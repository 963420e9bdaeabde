"""Tests of the times of phases, and of the file with the times of an export."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

from absl.testing import absltest

from export.process import phases

_MODEL = """
import time
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
    def forward(self, x):
        return self.linear(x) + 0

def get_model():
    time.sleep(1.5)
    return {name: (Model(), (torch.ones(2, 4),)) for name in ("forward", "other")}

def get_partitioners():
    return {"other": [XnnpackPartitioner()]}
"""


class PhasesTest(absltest.TestCase):
    def test_phases_within_phases(self) -> None:
        clock = iter([0, 10, 11, 14, 16, 20, 21, 30])
        with mock.patch.object(time, "perf_counter", lambda: float(next(clock))):
            phases.begin(is_shown=False)
            with phases.phase("outer"), phases.phase("inner"):  # From 10 to 16, and from 11 to 14.
                pass
            with phases.phase("inner"):  # From 20 to 21.
                pass
            self.assertEqual({"outer": 3, "inner": 4, "other": 23, "total": 30}, phases.seconds())

    def test_shown(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            phases.begin(is_shown=True)
            with self.assertRaises(ValueError), phases.phase("to_edge"):
                raise ValueError
            phases.begin(is_shown=False)
            with phases.phase("samples"):
                pass
        self.assertRegex(shown.getvalue(), r"\Aexport: to_edge\nexport: to_edge: 0\.\d\d s\n\Z")

    def test_file(self) -> None:
        folder = Path(self.create_tempdir().full_path)
        model, times = folder / "model.py", folder / "model.times.txt"
        model.write_text(_MODEL)
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "export.main", f"--model={model}", f"--times={times}", "--verbose"],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, sys.path)]),
            },
            capture_output=True,
            text=True,
            check=True,
        )
        taken = time.monotonic() - start
        seconds = {
            line.rpartition(" ")[0].strip(): float(line.rpartition(" ")[2]) for line in times.read_text().splitlines()
        }
        for name in (
            "import",
            "model",
            "samples",
            "torch.export",
            "to_edge",
            "pass no_ops",
            "backends",
            "to_executorch",
            "check",
        ):
            self.assertIn(name, seconds)
        self.assertEqual(["other", "total"], list(seconds)[-2:])
        self.assertGreaterEqual(seconds["model"], 1.5)
        for name in ("import", "torch.export", "to_edge", "to_executorch"):
            self.assertGreater(seconds[name], 0, name)
        total = seconds.pop("total")
        self.assertLess(total, taken)
        self.assertAlmostEqual(total, sum(seconds.values()), delta=0.01 * len(seconds))
        self.assertLess(seconds["other"], total / 2)
        self.assertIn(f"export: model: {seconds['model']:.2f} s\n", done.stderr)
        self.assertIn("export: pass no_ops\nexport: pass no_ops: ", done.stderr)


if __name__ == "__main__":
    absltest.main()
