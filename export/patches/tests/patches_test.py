"""Tests that each patch knows the sources of the installed ExecuTorch and PyTorch, and says what it is."""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import re
from pathlib import Path
from unittest import mock

from absl.testing import absltest

from export import exporter
from export.patches import patch
from export.patches.patch import Patch

_ROOM = Path(patch.__file__).parent
_MODULES = {
    file.stem: importlib.import_module(f"export.patches.{file.stem}")
    for file in sorted(_ROOM.glob("*.py"))
    if file.stem != "patch"
}
_PATCHES: dict[str, Patch] = {name: module.PATCH for name, module in _MODULES.items()}


_MODEL = """
import torch

def get_model():
    torch.manual_seed(3)
    layers = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU()).eval()
    return layers, (torch.rand(1, 3, 8, 8),)
"""


class PatchesTest(absltest.TestCase):
    def test_sources_are_known(self) -> None:
        self.assertGreater(len(_PATCHES), 5)
        for name, one in _PATCHES.items():
            with self.subTest(name):
                self.assertEqual(one.name, name)
                self.assertGreater(len(one.known), 0)
                found = {source: patch.fingerprint(source) for source in one.unknown}
                self.assertEqual(
                    found,
                    {},
                    f"the patch {name} is not for the installed sources: read the differences,"
                    " mend the patch, and add the fingerprints",
                )

    def test_sources_are_whole(self) -> None:
        """The text of a function is that which Python's parser finds."""
        for name in {source for one in _PATCHES.values() for source in one.known}:
            with self.subTest(name):
                module, _, path = name.partition(":")
                text = Path(importlib.import_module(module).__file__ or "").read_text()
                nodes: list[ast.AST] = [ast.parse(text)]
                for part in path.split("."):
                    nodes = [one for node in nodes for one in ast.iter_child_nodes(node)]
                    nodes = [one for one in nodes if getattr(one, "name", "") == part]
                lines = []
                for node in nodes:  # Several, if a function has overloads.
                    assert isinstance(node, ast.ClassDef | ast.FunctionDef)
                    lines += text.splitlines(keepends=True)[node.lineno - 1 : node.end_lineno]
                whole = "".join(line for line in lines if line.strip() and not line.lstrip().startswith("#"))
                self.assertEqual(patch.source(name), whole)

    def test_without_patches(self) -> None:
        """Without the patches that are not needed, the export makes the same program, with a warning."""
        model = Path(self.create_tempdir().full_path) / "model.py"
        model.write_text(_MODEL)
        # A graph pass and the comparison with eager PyTorch need a patch, too.
        export = functools.partial(
            exporter.export, model, quantize="xnnpack_int8", graph_passes=["recurrent"], with_eager_values=True
        )
        patched = export()
        self.assertEqual(patched.warnings, ())
        with contextlib.ExitStack() as unknown:
            for one in _PATCHES.values():
                unknown.enter_context(mock.patch.dict(vars(one), unknown=tuple(one.known)))
            exported = export()
        self.assertEqual(exported.pte, patched.pte)
        (warning,) = exported.warnings
        self.assertEqual(warning.id, "unknown-internals")
        told = dict(line.partition(";")[0].split(": ") for line in warning.details)
        expected = {
            name: "applied all the same" if one.is_needed else f"left out, so {one.without}"
            for name, one in _PATCHES.items()
        }
        self.assertEqual(told, expected)

    def test_documentation(self) -> None:
        for name, module in _MODULES.items():
            with self.subTest(name):
                found = re.findall(r"^\*\*(\w+)\*\*", module.__doc__ or "", re.MULTILINE)
                self.assertEqual(found, ["What", "Why", "Effect", "Report"])
        rows = re.findall(r"^\| `(\w+)` \| (.*) \| (yes|no) \|$", (_ROOM / "README.md").read_text(), re.MULTILINE)
        patched = {
            name: (sorted({re.split("[.:]", source)[0] for source in one.known}), "yes" if one.is_needed else "no")
            for name, one in _PATCHES.items()
        }
        self.assertEqual({name: (sorted(re.findall(r"`(\w+)`", of)[:1]), needed) for name, of, needed in rows}, patched)


if __name__ == "__main__":
    absltest.main()
