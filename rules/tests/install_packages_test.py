"""Tests of how a lock is installed, from wheels of a folder."""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import sys

from absl.testing import absltest

from rules.private.repositories import install_packages
from rules.tests import wheels


class InstallPackagesTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.index = self.folder / "index"
        self.index.mkdir()
        self.store = self.folder / "store"
        # What pip was asked for.
        self.log = self.folder / "log"
        self.pip = self.folder / "pip.sh"
        self.pip.write_text(
            "#!/bin/sh\n"
            f'for word; do case "$word" in --requirement=*) cat "${{word#*=}}" >> "{self.log}";; esac; done\n'
            f'exec "{sys.executable}" -m pip "$@"\n'
        )
        self.pip.chmod(0o755)

    def requirement(self, name: str, version: str, **modules: str) -> str:
        wheel = wheels.write(self.index, name, version, **modules)
        return f"{name}=={version} \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"

    def run_tool(self, to: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.index), "PIP_CONFIG_FILE": os.devnull}
        return subprocess.run(
            [
                *(sys.executable, "-B", install_packages.__file__, f"--requirements={self.folder / 'lock.txt'}"),
                *(f"--store={self.store}", f"--directory={to}", *arguments),
            ],
            capture_output=True,
            cwd=self.folder,
            env=os.environ | environment | {"PYTHONHASHSEED": "0"},
            text=True,
        )

    def install(self, lock: str, to: str) -> dict[str, bytes]:
        """The files of an environment."""
        (self.folder / "lock.txt").write_text(lock)
        for arguments in (["--pip", str(self.pip)], ["--precompile", "app"]):
            if arguments[0] == "--pip" or "app==" in lock:
                run = self.run_tool(to, *arguments)
                self.assertEqual(0, run.returncode, run.stderr)
        root = self.folder / to
        return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}

    def asked(self) -> list[str]:
        text = self.log.read_text() if self.log.exists() else ""
        self.log.unlink(missing_ok=True)
        return [line.partition("==")[0] for line in text.splitlines()]

    def test_installs_what_changed(self) -> None:
        app = self.requirement("app", "1.0", app="import layer\n")
        layer = self.requirement("layer", "1.0", layer="")
        first = self.install(app + layer, "first")
        self.assertEqual(["app", "layer"], self.asked())
        self.assertLessEqual({"app.py", "layer.py", "app-1.0.dist-info/RECORD"}, set(first))
        self.assertEqual(2, sum(file.endswith(".pyc") for file in first))
        self.assertEqual(first, self.install(app + layer, "again"))
        self.assertEqual([], self.asked())
        changed = self.install(app + self.requirement("layer", "2.0", layer="VALUE = 2\n"), "changed")
        self.assertEqual(["layer"], self.asked())
        self.assertEqual(b"VALUE = 2\n", changed["layer.py"])
        self.assertNotIn("layer-1.0.dist-info/RECORD", changed)
        # An environment without the importing package has no bytecode of the other.
        self.assertNotIn("__pycache__", " ".join(self.install(layer, "alone")))

    def test_environment_without_a_store(self) -> None:
        app = self.requirement("app", "1.0", app="")
        expected = self.install(app, "expected")
        self.store = self.folder / "lock.txt/no_folder"
        self.assertEqual(expected, self.install(app, "without"))

    def test_lock_that_pip_takes_apart(self) -> None:
        (self.folder / "other.txt").write_text(self.requirement("app", "1.0", app=""))
        self.assertIn("app.py", self.install("-r other.txt\n", "to"))
        self.assertEqual([], list(self.store.iterdir()))

    def test_lines_for_other_machines(self) -> None:
        other = self.requirement("layer", "1.0").replace(" \\", ' ; sys_platform == "none" \\', 1)
        here = self.requirement("layer", "2.0", layer="")
        self.assertIn("layer-2.0.dist-info/RECORD", self.install(other + here, "to"))

    def test_what_pip_says(self) -> None:
        (self.folder / "lock.txt").write_text("absent==1.0 --hash=sha256:" + "0" * 64 + "\n")
        run = self.run_tool("to", "--pip", str(self.pip))
        self.assertEqual(1, run.returncode)
        self.assertIn("No matching distribution found for absent==1.0", run.stderr)
        self.assertNotIn("Traceback", run.stderr)
        self.assertEqual([], [path for path in self.store.iterdir() if path.name.startswith("tmp")])


if __name__ == "__main__":
    absltest.main()
