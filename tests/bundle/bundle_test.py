"""A bundle runs where nothing else is: in an empty root directory with the libraries that its manifest names."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

from absl.testing import absltest

_ARCHIVE = Path(os.environ["ARCHIVE"])
_FOLDER = Path(os.environ["FOLDER"])
_QEMU = Path(os.environ["QEMU"])

_BINARY = "runner"
_CHECK = ["--check", "--rtol=1e-4", "--atol=1e-4"]
_LOADER = "/lib64/ld-linux-x86-64.so.2"


def _system_libraries(binary: Path) -> dict[str, str]:
    """Where the dynamic linker finds the libraries of a binary on this machine, by their names."""
    listed = subprocess.run([_LOADER, "--list", str(binary)], capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in listed.splitlines()]
    return {line[0]: line[2] for line in lines if len(line) > 2 and line[1] == "=>"}


class BundleTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = Path(self.create_tempdir().full_path)
        with tarfile.open(_ARCHIVE) as archive:
            self.entries = archive.getmembers()
            archive.extractall(self.root, filter="data")
        self.folder = self.root / "mobilenet"
        self.manifest: dict[str, Any] = json.loads((self.folder / "manifest.json").read_text())

    def fill_root(self) -> None:
        """Puts the dynamic linker into the root directory, and of the system's libraries those of the manifest."""
        found = _system_libraries(self.folder / _BINARY)
        for library in self.manifest["system_libraries"]:
            if library != Path(_LOADER).name:
                self.copy(found[library], f"/lib/{library}")
        self.copy(_LOADER, _LOADER)

    def copy(self, source: str, target: str) -> None:
        path = self.root / target.removeprefix("/")
        path.parent.mkdir(exist_ok=True)
        shutil.copy(source, path)

    def assert_passes(self, command: list[str]) -> None:
        # No name of a file of the build reaches the program.
        done = subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("PASSED", done.stdout)

    def test_runs_in_an_empty_root_directory(self) -> None:
        self.fill_root()
        # The dynamic linker reads in /proc which folder is $ORIGIN.
        (self.root / "proc").mkdir()
        script = 'mount --rbind /proc "$0/proc" && exec unshare --root="$0" "$@"'
        namespaces = ["unshare", "--user", "--map-root-user", "--mount"]
        self.assert_passes([*namespaces, "sh", "-c", script, str(self.root), f"/mobilenet/{_BINARY}", *_CHECK])

    def test_runs_on_another_processor(self) -> None:
        self.fill_root()
        emulator = [str(_QEMU.absolute()), "-cpu", "qemu64", "-L", str(self.root)]
        self.assert_passes([*emulator, str(self.folder / _BINARY), *_CHECK])

    def test_manifest_lists_every_file(self) -> None:
        files = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}
        self.assertEqual({entry["path"] for entry in self.manifest["files"]}, files - {"manifest.json"})
        for entry in self.manifest["files"]:
            content = (self.folder / entry["path"]).read_bytes()
            self.assertEqual(entry["bytes"], len(content))
            self.assertEqual(entry["sha256"], hashlib.sha256(content).hexdigest())

    def test_manifest_names_what_the_binary_is_for(self) -> None:
        self.assertEqual(self.manifest["binary"], _BINARY)
        self.assertEqual(self.manifest["machine"], "x86-64")
        self.assertIn("libc.so.6", self.manifest["system_libraries"])
        self.assertTrue(any(v.startswith("GLIBC_2") for v in self.manifest["system_libraries"]["libc.so.6"]))
        self.assertNotIn("libexecutorch.so", self.manifest["system_libraries"])

    def test_licenses(self) -> None:
        texts = [(self.folder / path).read_text() for path in self.manifest["licenses"]]
        self.assertEqual(len(texts), 3)
        self.assertTrue(any("Meta Platforms" in text for text in texts), "the runtime's")
        self.assertTrue(any("random numbers" in text for text in texts), "the model's")

    def test_archive_has_no_owner_and_no_time(self) -> None:
        for entry in self.entries:
            self.assertEqual((entry.uid, entry.gid, entry.mtime, entry.uname), (0, 0, 0, ""))

    def test_folder_is_what_the_archive_has(self) -> None:
        for path in _FOLDER.rglob("*"):
            if path.is_file():
                self.assertEqual(path.read_bytes(), (self.folder / path.relative_to(_FOLDER)).read_bytes())


if __name__ == "__main__":
    absltest.main()
