"""Tests of what a worker's imports depend on, with modules of a test's own in place of PyTorch."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
from pathlib import Path

from absl.testing import absltest

from export.process.preloaded import Preloaded

_LOADED = """
import importlib.metadata
try:
    import preloaded_optional
except ImportError:
    pass
importlib.metadata.entry_points(group="preloaded.plugins")
import preloaded_parts.first
import preloaded_parts.second
"""


class PreloadedTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self._tool, self._model = (Path(self.create_tempdir().full_path) for _ in range(2))
        self._write(self._tool, "preloaded_tool.py", _LOADED)
        for part in ("first", "second"):
            self._write(self._tool, f"preloaded_parts/{part}.py")
        self._write(self._tool, "tool-1.dist-info/METADATA", "Name: tool\n")
        sys.path.insert(0, str(self._tool))
        self.addCleanup(sys.path.remove, str(self._tool))
        self.addCleanup(self._forget)
        self._preloaded = Preloaded()
        self._preloaded.load(lambda: importlib.import_module("preloaded_tool"))

    def _forget(self) -> None:
        for name in [name for name in sys.modules if name.startswith("preloaded_")]:
            del sys.modules[name]

    def _write(self, folder: Path, name: str, content: str = "") -> None:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def _would_differ(self) -> bool:
        importlib.invalidate_caches()
        return self._preloaded.would_differ([str(self._model)])

    def test_what_makes_no_difference(self) -> None:
        self.assertFalse(self._would_differ())
        self._write(self._model, "model.py")
        self._write(self._model, "preloaded_parts/third.py")  # One more part of a package in several folders.
        self._write(self._model, "preloaded_tool/notes.txt")  # A folder hides no module.
        self._write(self._model, "other-1.dist-info/METADATA", "Name: other\n")
        self._write(self._model, "other-1.dist-info/entry_points.txt", "[console_scripts]\nother = a:b\n")
        os.symlink(
            self._tool / "preloaded_tool.py", self._model / "preloaded_tool.py"
        )  # The same file by another name.
        self.assertFalse(self._would_differ())

    def test_what_makes_one(self) -> None:
        for name, content in (
            ("preloaded_tool.py", ""),
            ("preloaded_tool/__init__.py", ""),
            ("preloaded_parts/second.py", ""),
            ("preloaded_parts/__init__.py", ""),
            ("preloaded_optional.py", ""),
            ("preloaded_optional/part.py", ""),
            ("plugin-1.dist-info/entry_points.txt", "[preloaded.plugins]\nplugin = a:b\n"),
        ):
            with self.subTest(name):
                self._write(self._model, name, content)
                if name.startswith("plugin"):
                    self._write(self._model, "plugin-1.dist-info/METADATA", "Name: plugin\n")
                self.assertTrue(self._would_differ())
                for file in sorted(self._model.rglob("*"), reverse=True):
                    file.rmdir() if file.is_dir() else file.unlink()

    def test_a_list_of_all_packages(self) -> None:
        self._write(self._model, "other-1.dist-info/METADATA", "Name: other\n")
        self.assertFalse(self._would_differ())

        def load() -> object:
            return importlib.metadata.packages_distributions()

        self._preloaded.load(load)
        self.assertTrue(self._would_differ())

    def test_modules_of_a_second_call(self) -> None:
        self._forget()
        self._write(self._tool, "preloaded_more.py")
        self._write(self._model, "preloaded_more.py")
        self._preloaded = Preloaded()
        self._preloaded.load(lambda: importlib.import_module("preloaded_tool"))
        self.assertFalse(self._would_differ())
        self._preloaded.load(lambda: importlib.import_module("preloaded_more"))
        self.assertTrue(self._would_differ())
        (self._model / "preloaded_more.py").unlink()
        self.assertFalse(self._would_differ())
        self._write(self._model, "preloaded_optional.py")  # The first call did not find this module.
        self.assertTrue(self._would_differ())

    def test_packages_that_were_installed_since(self) -> None:
        (self._tool / "more-1.dist-info").mkdir()
        self.assertTrue(self._would_differ())


if __name__ == "__main__":
    absltest.main()
