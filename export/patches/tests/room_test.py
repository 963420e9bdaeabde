"""Tests that nothing outside of the room replaces insides of ExecuTorch and PyTorch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from absl.testing import absltest

_ROOT = Path(__file__).parents[3]
_ROOM = "export/patches"
# The folders of the tools that rules run. Tests may replace what they like.
_FOLDERS = (
    *("bazel_worker", "codegen", "diagnostics", "export", "kernels", "profiles", "qnn", "rules", "runtime", "tools"),
    "torch_ops",
)
_FREE = {"bench", "fuzz", "testing", "tests"}
_PACKAGES = ("executorch", "torch", "torchao")


def _sources(root: Path) -> Iterator[Path]:
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            if not _FREE & set(path.relative_to(root).parts) and not path.stem.endswith("_test"):
                yield path


def _patches(text: str) -> Iterator[str]:
    """Yields the statements that import mocks, or that set attributes of a patched package."""
    tree = ast.parse(text)
    foreign = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(alias.name, (alias.asname or alias.name).partition(".")[0]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [(f"{node.module}.{alias.name}", alias.asname or alias.name) for alias in node.names]
        else:
            continue
        if any(name.startswith("unittest") for name, _ in names):
            yield ast.unparse(node)
        foreign |= {bound for name, bound in names if name.partition(".")[0] in _PACKAGES}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            changed: ast.AST = node
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr") and node.args:
            changed = node.args[0]
        else:
            continue
        while isinstance(changed, ast.Attribute | ast.Subscript):
            changed = changed.value
        if isinstance(changed, ast.Name) and changed.id in foreign:
            yield ast.unparse(node)


class RoomTest(absltest.TestCase):
    def test_no_patch_is_elsewhere(self) -> None:
        sources = {str(path.relative_to(_ROOT)): path.read_text() for path in _sources(_ROOT)}
        self.assertLessEqual({"export/lower/program.py", f"{_ROOM}/patch.py", "torch_ops/main.py"}, sources.keys())
        found = {path: [*_patches(text)] for path, text in sources.items() if str(Path(path).parent) != _ROOM}
        self.assertEqual({path: of for path, of in found.items() if of}, {}, f"patches belong to {_ROOM}")
        self.assertEqual([*_patches(sources[f"{_ROOM}/patch.py"])], ["from unittest import mock"])

    def test_finds(self) -> None:
        for text in (
            "from unittest import mock",
            "import unittest.mock",
            "import torch\ntorch.fx.GraphModule.recompile = None",
            "from torch.fx import GraphModule as M\nsetattr(M, 'recompile', None)",
            "from executorch.exir import emit\ndel emit.run",
            "import torch\ntorch.registry['a'] = 1",
        ):
            with self.subTest(text):
                self.assertEqual(len([*_patches(text)]), 1)
        for text in ("import torch\nx = torch.zeros(1)\nx.y = torch.z", "import os\nos.environ['A'] = '1'"):
            with self.subTest(text):
                self.assertEqual([*_patches(text)], [])


if __name__ == "__main__":
    absltest.main()
