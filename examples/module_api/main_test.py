"""The binary's output against PyTorch's, and the threads that it runs on."""

import os
import re
import subprocess
from pathlib import Path

import torch
from absl.testing import absltest

from examples.module_api.model import get_model

_HERE = Path(__file__).parent


class MainTest(absltest.TestCase):
    def run_main(self, *arguments: str) -> str:
        return subprocess.run(
            [_HERE / "main", _HERE / "model.pte", *arguments], check=True, capture_output=True, text=True
        ).stdout

    def test_output(self) -> None:
        module, inputs = get_model()
        expected = module(*inputs)[0, :2]
        for threads in ("1", "3"):
            printed = self.run_main(threads)
            found = re.search(r"output: 64 x 256, starts with (\S+) (\S+)\n", printed)
            assert found is not None, printed
            torch.testing.assert_close(torch.tensor([float(found[1]), float(found[2])]), expected)

    def test_threads(self) -> None:
        for threads in ("1", "2", "3"):
            self.assertIn(f"threads: {threads}\n", self.run_main(threads))

    def test_threads_by_default(self) -> None:
        """One for each processor that ExecuTorch takes for a fast one and that the process may run on."""
        processors = os.sched_getaffinity(0)
        found = re.search(r"threads: (\d+)\n", self.run_main())
        assert found is not None
        self.assertIn(int(found[1]), range(min(2, len(processors)), len(processors) + 1))
        os.sched_setaffinity(0, [min(processors)])
        try:
            self.assertIn("threads: 1\n", self.run_main())
        finally:
            os.sched_setaffinity(0, processors)


if __name__ == "__main__":
    absltest.main()
