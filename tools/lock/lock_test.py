"""Tests of locks, against an index of a few wheels, without the network."""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import sys
from typing import Any
from unittest import mock

from absl.testing import absltest

from rules.private.repositories import indexes
from rules.tests import wheels
from tools.lock import lock, request


class LockTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.index = self.folder / "index"
        self.index.mkdir()
        self.file = self.folder / "requirements_lock.txt"
        wheels.write_exports(self.index)
        wheels.write(self.index, "layers", "1.0")
        wheels.write(self.index, "models", "2.0", "layers", "torch")
        pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.index), "PIP_CONFIG_FILE": os.devnull}
        self.environment = {"XDG_CACHE_HOME": str(self.folder / "cache"), **pip}
        self.enter_context(mock.patch.dict(os.environ, self.environment))

    def report(self, *packages: str, upgrade: bool = False, **changes: Any) -> lock.Report:
        asked = request.of(self.file).with_changes(packages=packages, **changes)
        return lock.write(self.file, asked, indexes.of_machine(), upgrade)

    def lock(self, *packages: str, upgrade: bool = False, **changes: Any) -> tuple[str, ...]:
        return self.report(*packages, upgrade=upgrade, **changes).lines

    def assert_fails(self, packages: list[str], *parts: str, **changes: Any) -> None:
        with self.assertRaises(request.LockError) as caught:
            self.lock(*packages, **changes)
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def test_transitive_list_and_both_builds_of_torch(self) -> None:
        (line,) = self.lock("models")
        self.assertIn("layers==1.0, ", line)
        text = self.file.read_text()
        for pin in ("executorch==1.5.1 ", "layers==1.0", "models==2.0", "torch==2.13.0 "):
            self.assertRegex(text, rf"(?m)^{pin}")
        self.assertNotIn("coremltools", text)
        self.assertNotIn("nvidia", text)
        cpu = hashlib.sha256((self.index / "torch-2.13.0+cpu-py3-none-any.whl").read_bytes()).hexdigest()
        torch = text.partition("\ntorch==")[2].partition("\ntorchao")[0]
        self.assertIn(cpu, torch)
        self.assertGreater(torch.count("--hash=sha256:"), 20)

    def test_versions_stay_until_upgraded(self) -> None:
        self.lock("models")
        wheels.write(self.index, "layers", "1.1")
        wheels.write(self.index, "zoo", "1.0", "models")
        (line,) = self.lock("models", "zoo")
        self.assertIn("; new or changed: zoo==1.0", line)
        (line,) = self.lock()
        self.assertIn("; new or changed: none", line)
        (line,) = self.lock(upgrade=True)
        self.assertIn("; new or changed: layers==1.1", line)

    def test_other_executorch(self) -> None:
        """Known versions bring the PyTorch that goes with them. The lock keeps its version."""
        wheels.write(self.index, "executorch", "1.4.1", "coremltools")
        self.lock("models", executorch="1.4")
        for _ in range(2):
            text = self.file.read_text()
            self.assertStartsWith(
                text, "# Made by: bazel run @rules_executorch//tools/lock -- --executorch=1.4 models\n"
            )
            for pin in ("executorch==1.4.1 ", "models==2.0", "torch==2.13.0 ", "torchao==0.18.0 "):
                self.assertRegex(text, rf"(?m)^{pin}")
            self.assertNotIn("coremltools", text)
            self.lock()
        self.lock(executorch="1.5.1")
        self.assertRegex(self.file.read_text(), r"(?m)^executorch==1\.5\.1 ")
        for version in ("1.6.0", "1.6.2"):
            wheels.write(self.index, "executorch", version)
        for version in ("2.15.0", "2.15.0+cpu"):
            wheels.write(self.index, "torch", version)
        for version, expected in (("1.6", "1.6.0"), ("1.6.2", "1.6.2")):
            self.file.unlink()
            (line,) = self.lock(executorch=version)
            self.assertIn(f" executorch=={expected}, ", line)
            self.assertRegex(self.file.read_text(), r"(?m)^torch==2\.15\.0 ")

    def test_unknown_executorch(self) -> None:
        """PyTorch's newest version is taken, and a note says what is known."""
        wheels.write(self.index, "executorch", "1.99.3")
        wheels.write(self.index, "torch", "2.98.0")
        for version in ("1.99", "1.99.3"):
            report = self.report("models", executorch=version)
            note = report.lines[1]
            self.assertIn("CPU build of torch==2.98.0", report.problem)
            self.assertStartsWith(note, f"note: these rules know no executorch {version}; known are 1.4, 1.5")
            for pin in ("executorch==1.99.3 ", "torch==2.98.0 "):
                self.assertRegex(self.file.read_text(), rf"(?m)^{pin}")
            self.file.unlink()
        parts = ("executorch==1.97.0", "index does not have this version", "these rules know 1.4, 1.5")
        self.assert_fails(["models"], *parts, executorch="1.97.0")

    def test_cpu_builds_beside_torch(self) -> None:
        wheels.write(self.index, "torchvision", "0.28.0", "torch==2.13.0")
        self.assertIn("no CPU build of torchvision==0.28.0", self.report("torchvision").problem)
        wheels.write(self.index, "torchvision", "0.28.0+cpu", "torch==2.13.0")
        for _ in range(2):
            self.lock("torchvision")
            text = self.file.read_text()
            self.assertEqual(1, text.count("\ntorchvision==0.28.0+cpu ; sys_platform == "), text)

    def test_old_version_has_a_note(self) -> None:
        """The newest version needs another torch, or has no wheel; a version of the user's own choice gets no note."""
        wheels.write(self.index, "zoo", "1.0", "torch")
        wheels.write(self.index, "zoo", "2.0", "torch<2")
        wheels.write(self.index, "Old.Layers", "3.0")
        (self.index / "old_layers-4.0.tar.gz").touch()
        _, layers, zoo = self.lock("Old.Layers", "zoo")
        self.assertStartsWith(
            layers, "note: old-layers is 3.0, not the newest, 4.0, because newer versions have no wheel"
        )
        self.assertIn("pip wheel --no-deps --wheel-dir=wheels old-layers", layers)
        self.assertStartsWith(zoo, "note: zoo is 1.0, not the newest, 2.0, because zoo")
        self.assertIn("depends on torch<2", zoo)
        self.assertIn("--no_deps=zoo", zoo)
        self.assertLen(self.lock(), 1)
        self.assertLen(self.lock("zoo<2", "Old.Layers==3.0"), 1)

    def test_option_for_an_old_version_without_upgrade(self) -> None:
        wheels.write(self.index, "zoo", "1.0")
        wheels.write(self.index, "zoo", "2.0", "unused")
        self.lock("zoo")
        _, note = self.lock("zoo", excludes=["unused"])
        self.assertStartsWith(note, "note: zoo is 1.0, not the newest, 2.0, because the existing lock has this version")
        self.assertEndsWith(note, "--upgrade")
        self.assertLen(self.lock("zoo"), 1)
        self.assertLen(self.lock(upgrade=True), 1)

    def test_old_version_for_the_sake_of_others(self) -> None:
        wheels.write(self.index, "layers", "2.0")
        wheels.write(self.index, "zoo", "1.0")
        wheels.write(self.index, "zoo", "2.0", "layers<2")
        _, note = self.lock("layers", "zoo")
        self.assertStartsWith(note, "note: zoo is 1.0, not the newest, 2.0, because other packages then have newer")
        self.assertIn("'zoo==2.0' as argument", note)

    def test_requirements_that_are_too_strict(self) -> None:
        wheels.write(self.index, "layers", "2.0")
        wheels.write(self.index, "zoo", "2.0", "layers<2", "unused")
        self.assert_fails(["layers>=2", "zoo"], "--override=REQUIREMENT", "--no_deps=NAME")
        self.assert_fails(["zoo"], "--override=torch<3: expected a package other than", overrides=["torch<3"])
        changes: dict[str, Any] = {"overrides": ["layers>=2"], "excludes": ["unused"]}
        self.lock("zoo", **changes)
        for _ in range(2):
            text = self.file.read_text()
            arguments = "'--override=layers>=2' --exclude=unused zoo"
            self.assertStartsWith(text, f"# Made by: bazel run @rules_executorch//tools/lock -- {arguments}\n")
            for pin in ("zoo==2.0", "layers==2.0", "torch==2.13.0 "):
                self.assertRegex(text, rf"(?m)^{pin}")
            self.assertNotIn("unused==", text)
            self.lock()
        # Empty values drop the options.
        self.assert_fails(["layers>=2", "zoo"], "zoo", overrides=[""])
        self.lock(overrides=[""], excludes=[""], no_deps=["zoo"])
        text = self.file.read_text()
        self.assertRegex(text, r"(?m)^zoo==2\.0")
        self.assertNotRegex(text, r"(?m)^(layers|unused)==")

    def test_folder_of_wheels(self) -> None:
        """For a package without a wheel in the index."""
        (self.index / "sourced-1.0.tar.gz").touch()
        self.assert_fails(["sourced"], "a source distribution only", "pip wheel --no-deps", "--wheels=wheels")
        self.assert_fails(["sourced"], "--wheels=wheels: expected a folder; found none", wheels="wheels")
        folder = self.folder / "wheels"
        folder.mkdir()
        wheel = wheels.write(folder, "sourced", "1.0")
        self.lock("sourced", wheels="wheels")
        for _ in range(2):
            text = self.file.read_text()
            self.assertIn("-- --wheels=wheels sourced\n--find-links=wheels\n", text)
            self.assertEqual(1, text.count("--find-links"), text)
            self.assertIn(hashlib.sha256(wheel.read_bytes()).hexdigest(), text)
            self.lock()

    def test_errors_leave_the_lock(self) -> None:
        self.lock("models")
        text = self.file.read_text()
        self.assert_fails(["modles"], "no versions found for modles", "modles was not found", "Likely cause: a typo")
        wheels.write(self.index, "old", "1.0", "torch<2")
        self.assert_fails(["old"], "torch<2", "executorch==1.5.1", "torch==2.13.0")
        with mock.patch.dict(os.environ, {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}):
            self.assert_fails(["other"], "Likely cause: no network")
        self.assertEqual(text, self.file.read_text())
        self.assertEqual([self.file], list(self.folder.glob("requirements_lock*")))

    def test_file_that_is_no_lock(self) -> None:
        self.file.write_text("models\n")
        self.assert_fails(["models"], "another tool made the file", "--output")
        self.assertEqual("models\n", self.file.read_text())
        self.file.unlink()
        self.assert_fails([], "expected packages")

    def run_command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tools.lock.lock", *arguments],
            capture_output=True,
            check=False,
            env=os.environ | {"BUILD_WORKSPACE_DIRECTORY": str(self.folder), "PYTHONPATH": os.pathsep.join(sys.path)},
            text=True,
        )

    def test_command(self) -> None:
        run = self.run_command("--exclude=unused", "models")
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertIn('add executorch.python(requirements = "//:requirements_lock.txt")', run.stdout)

    def test_command_without_a_cpu_build(self) -> None:
        """The last line is the problem, and the exit code says so."""
        wheels.write(self.index, "torchvision", "0.28.0", "torch==2.13.0")
        run = self.run_command("torchvision")
        self.assertEqual(1, run.returncode)
        self.assertIn("requirements_lock.txt: error: the lock is written, but Linux on x86-64 cannot", run.stderr)
        self.assertIn("no CPU build of torchvision==0.28.0", run.stderr)
        self.assertTrue(self.file.exists())

    def test_configuration_of_pip(self) -> None:
        found = indexes.parse(
            "global.index-url='https://main'\nglobal.extra-index-url='a b'\n:env:.find-links='/w'\n"
            ":env:.index-url='https://other'\nglobal.cert='/c'\n"
        )
        self.assertEqual(indexes.Indexes("https://other", ("a", "b"), ("/w",), False, "/c"), found)


if __name__ == "__main__":
    absltest.main()
