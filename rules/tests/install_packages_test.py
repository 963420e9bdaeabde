"""Tests of how a lock is installed, from wheels of a folder."""

from __future__ import annotations

import hashlib
import marshal
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import uv
from absl.testing import absltest

from docs.tests import guide
from rules.private.repositories import install_packages
from rules.private.toolchains import python_environment
from rules.tests import wheels

_PAGE = pathlib.Path("docs/model.md")
_PIP = (sys.executable, "-m", "pip")


class InstallPackagesTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.create_tempdir().full_path)
        self.index = self.folder / "index"
        self.index.mkdir()
        self.cache = self.folder / "cache"

    def requirement(self, name: str, version: str, **modules: str) -> str:
        wheel = wheels.write(self.index, name, version, **modules)
        return f"{name}=={version} \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"

    def run_tool(self, to: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.index), "PIP_CONFIG_FILE": os.devnull}
        return subprocess.run(
            [
                *(sys.executable, "-B", install_packages.__file__, f"--requirements={self.folder / 'lock.txt'}"),
                *(f"--cache={self.cache}", f"--directory={to}", *arguments),
            ],
            capture_output=True,
            cwd=self.folder,
            env=os.environ | environment | {"PYTHONHASHSEED": "0"},
            text=True,
        )

    def install(self, lock: str, to: str, *options: str) -> dict[str, bytes]:
        """The files of an environment."""
        (self.folder / "lock.txt").write_text(lock)
        run = self.run_tool(to, *(options or [f"--uv={uv.find_uv_bin()}"]), "--pip", *_PIP)
        self.assertEqual((0, ""), (run.returncode, run.stderr))
        if "app==" in lock:
            run = self.run_tool(to, "--precompile", "app")
            self.assertEqual((0, ""), (run.returncode, run.stderr))
        root = self.folder / to
        return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}

    def test_uv_installs_what_is_in_its_cache(self) -> None:
        app = self.requirement("app", "1.0", app="import layer\n")
        lock = app + self.requirement("layer", "1.0", layer="")
        first = self.install(lock, "first")
        self.assertLessEqual({"app.py", "layer.py", "app-1.0.dist-info/RECORD"}, set(first))
        self.assertNotIn(".lock", first)
        self.assertEqual(b"uv", first["app-1.0.dist-info/INSTALLER"])
        self.assertGreaterEqual((self.folder / "first/layer.py").stat().st_nlink, 2)
        self.assertEqual(first, self.install(lock, "again"))
        changed = self.install(app + self.requirement("layer", "2.0", layer="VALUE = 2\n"), "changed")
        self.assertEqual(b"VALUE = 2\n", changed["layer.py"])
        self.assertNotIn("layer-1.0.dist-info/RECORD", changed)

    def test_pip_installs_the_same(self) -> None:
        lock = self.requirement("app", "1.0", app="import layer\n") + self.requirement("layer", "1.0", layer="")
        by_uv = self.install(lock, "by_uv")
        for name, options in {"without_uv": ["--cache=cache"], "broken_uv": ["--uv=/bin/false"]}.items():
            by_pip = self.install(lock, name, *options)
            self.assertEqual(b"pip", by_pip["app-1.0.dist-info/INSTALLER"].strip())
            code = {file: content for file, content in by_pip.items() if ".dist-info/" not in file}
            self.assertEqual({file: content for file, content in by_uv.items() if ".dist-info/" not in file}, code)
            self.assertEqual(
                python_environment.fingerprint(self.folder / "by_uv"),
                python_environment.fingerprint(self.folder / name),
            )

    def test_bytecode_of_what_is_imported(self) -> None:
        app = self.requirement("app", "1.0", app="import layer\n")
        layer = self.requirement("layer", "1.0", layer="", other="")
        tag = sys.implementation.cache_tag
        bytecode = {f"__pycache__/{module}.{tag}.pyc" for module in ("app", "layer")}
        first = self.install(app + layer, "first")
        self.assertEqual(bytecode, {file for file in first if file.endswith(".pyc")})
        # Python takes the bytecode without a look at the source, in an environment that is somewhere else.
        (self.folder / "first").rename(self.folder / "moved")
        (self.folder / "moved/layer.py").unlink()
        (self.folder / "moved/layer.py").write_text("raise ValueError")
        code = f"import sys; sys.path.insert(0, {str(self.folder / 'moved')!r}); import app"
        subprocess.run([sys.executable, "-c", code], check=True)
        # An environment without the importing package has no bytecode of the other.
        self.assertNotIn("__pycache__", " ".join(self.install(layer, "alone")))

    def test_bytecode_is_compiled_once(self) -> None:
        lock = self.requirement("app", "1.0", app="")
        name = f"__pycache__/app.{sys.implementation.cache_tag}.pyc"
        self.assertNotIn(b"VALUE", self.install(lock, "first")[name])
        (kept,) = (file for file in (self.cache / "bytecode").rglob("*") if file.is_file())
        kept.write_bytes(kept.read_bytes()[:16] + marshal.dumps(compile("VALUE = 2", "app.py", "exec")))
        self.assertIn(b"VALUE", self.install(lock, "again")[name])

    def test_no_cache_can_be_made(self) -> None:
        app = self.requirement("app", "1.0", app="")
        expected = self.install(app, "expected")
        self.cache = self.folder / "lock.txt/no_folder"
        self.assertEqual(expected, self.install(app, "without"))

    def test_modules_of_the_standard_library(self) -> None:
        """The package `typing`, which old packages require, does not hide Python's own module."""
        lock = self.requirement("typing", "3.10", typing="raise ImportError\n")
        lock += self.requirement("enum34", "1.1", **{"enum/__init__": "raise ImportError\n"})
        lock += self.requirement("typing_more", "1.0", typing_more="")
        for name, options in {"by_uv": [], "by_pip": ["--uv=/bin/false"]}.items():
            files = self.install(lock, name, *options)
            self.assertEqual({"typing_more.py"}, {file for file in files if file.endswith(".py")})

    def test_lock_that_names_a_file(self) -> None:
        (self.folder / "other.txt").write_text(self.requirement("app", "1.0", app=""))
        self.assertIn("app.py", self.install("-r other.txt\n", "to"))

    def test_files_of_packages(self) -> None:
        """As docs/model.md finds them."""
        (code,) = [block.text for block in guide.blocks(_PAGE.read_text()) if "find_spec(" in block.text]
        wheel = wheels.write(self.index, "detector", "1.0", **{"detector/__init__": "raise ImportError\n"})
        with zipfile.ZipFile(wheel, "a") as archive:
            archive.writestr("detector/weights.bin", "weights")
            archive.writestr("detector-1.0.data/data/share/detector/labels.txt", "labels")
        lock = f"detector==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"
        code += "print(weights.read_text(), labels.read_text())\n"
        for name, options in {"by_uv": [], "by_pip": ["--uv=/bin/false"]}.items():
            self.install(lock, name, *options)
            run = subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                check=False,
                env=os.environ | {"PYTHONPATH": str(self.folder / name)},
                text=True,
            )
            self.assertEqual("weights labels\n", run.stdout, run.stderr)

    def test_folder_of_wheels_in_the_lock(self) -> None:
        """As tools/lock writes it and the repository makes it absolute."""
        own = self.folder / "own"
        own.mkdir()
        wheel = wheels.write(own, "app", "1.0", app="")
        lock = f"--find-links={own}\napp==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"
        for name, options in {"by_uv": [], "by_pip": ["--uv=/bin/false"]}.items():
            self.assertIn("app.py", self.install(lock, name, *options))

    def test_lines_for_other_machines(self) -> None:
        other = self.requirement("layer", "1.0").replace(" \\", ' ; sys_platform == "none" \\', 1)
        here = self.requirement("layer", "2.0", layer="")
        self.assertIn("layer-2.0.dist-info/RECORD", self.install(other + here, "to"))

    def test_errors_are_those_of_pip(self) -> None:
        for lock, message in {
            "absent==1.0 --hash=sha256:" + "0" * 64 + "\n": "No matching distribution found for absent==1.0",
            re.sub("[0-9a-f]{64}", "0" * 64, self.requirement("app", "1.0", app="")): "DO NOT MATCH THE HASHES",
        }.items():
            (self.folder / "lock.txt").write_text(lock)
            run = self.run_tool("to", f"--uv={uv.find_uv_bin()}", "--pip", *_PIP)
            self.assertEqual(1, run.returncode)
            self.assertIn(message, run.stderr)
            self.assertNotIn("Traceback", run.stderr)


if __name__ == "__main__":
    absltest.main()
