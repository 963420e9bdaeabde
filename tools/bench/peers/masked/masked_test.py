from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from absl.testing import absltest

from kernels.testing import processor
from tools.bench.peers.masked import masked

_HERE = Path(__file__).parent
_SETS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16")


class MaskedTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.state = Path(self.create_tempdir().full_path)
        package = self.state / "package"
        package.mkdir()
        (package / "__init__.py").touch()
        self.folder = masked.copies([package], [_HERE / "libsets.so"], self.state)

    def _run(self, limit: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, "EXECUTORCH_INSTRUCTION_SET": limit}
        environment = masked.environment(self.folder, variables) if limit else variables
        return subprocess.run([_HERE / "sets", *arguments], capture_output=True, text=True, env=environment)

    def _sets(self, limit: str) -> list[str]:
        run = self._run(limit)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout.split()

    def test_wider_sets_are_hidden(self) -> None:
        flags = processor.flags()
        every = [name for name in _SETS if name in flags]
        self.assertEqual(self._sets(""), every)
        self.assertEqual(self._sets("avx2"), [name for name in every if name == "avx2"])
        self.assertEqual(self._sets("avx512"), [name for name in every if name in ("avx2", "avx512f")])

    def test_other_faults_end_the_process(self) -> None:
        self.assertEqual(self._run("avx2", "--crash").returncode, -signal.SIGSEGV)

    def test_copies(self) -> None:
        self.assertTrue((self.folder / "package/__init__.py").exists())
        self.assertNotEqual((self.folder / "libsets.so").read_bytes(), (_HERE / "libsets.so").read_bytes())
        self.assertEqual(masked.mask(self.folder / "libsets.so"), 0)
        self.assertEqual(masked.copies([self.state / "package"], [_HERE / "libsets.so"], self.state), self.folder)

    def test_first_on_the_paths(self) -> None:
        environment = masked.environment(self.folder, {"PYTHONPATH": "/other", "KEPT": "1"})
        self.assertEqual(environment["PYTHONPATH"], f"{self.folder}:/other")
        self.assertEqual(environment["LD_LIBRARY_PATH"], str(self.folder))
        self.assertEqual(environment["KEPT"], "1")


if __name__ == "__main__":
    absltest.main()
