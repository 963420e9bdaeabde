"""The binary's output against PyTorch's, and the threads that it runs on."""

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
            [_HERE / "main", _HERE / "program.pte", *arguments], check=True, capture_output=True, text=True
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
        """As many as the runtime's own pool has where nobody says how many: a number of ExecuTorch's choice."""
        found = re.search(r"threads: (\d+)\n", self.run_main())
        assert found is not None
        self.assertGreaterEqual(int(found[1]), 1)


if __name__ == "__main__":
    absltest.main()
