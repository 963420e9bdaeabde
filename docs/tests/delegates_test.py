"""Lowers by every backend of the wheel, and compares with the table of docs/delegates.md."""

from __future__ import annotations

import ast
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from absl.testing import absltest

from diagnostics.errors import InputError
from export.exporter import export

_MODEL_FILE = """import torch
from docs.tests import wheel_backends

def get_model():
    return wheel_backends.Model().eval(), (torch.randn(1, 4, 8, 8),)

def get_partitioners():
    return [wheel_backends.partitioner("{path}")]
"""


@dataclass(frozen=True)
class _Row:
    backend: str
    partitioner: str
    needs: str
    lowers: str
    runtime: str


def _wheel() -> Path:
    spec = importlib.util.find_spec("executorch")
    assert spec is not None and spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations)))


def _rows() -> list[_Row]:
    table = Path("docs/delegates.md").read_text().partition("| backend | partitioner |")[2].partition("\n\n")[0]
    return [_Row(*(cell.strip() for cell in line.strip("|").split("|"))) for line in table.splitlines()[2:]]


class BackendsTest(absltest.TestCase):
    def lower(self, row: _Row) -> str:
        """What the column "lowers here" has to say; or the error where the backend does not lower."""
        text = _MODEL_FILE.format(path=row.partitioner.strip("`"))
        try:
            exported = export(Path(self.create_tempfile("model.py", text).full_path))
        except InputError as error:
            return str(error)
        delegation = exported.delegations["forward"]
        self.assertEqual({f"`{each.backend}`" for each in delegation.delegates}, {row.backend.partition(",")[0]})
        return f"{5 - len(delegation.remaining)} of 5"

    def test_backends_are_those_of_the_wheel(self) -> None:
        found = set()
        backends = _wheel() / "backends"
        for file in backends.rglob("*.py"):
            if not {"test", "tests"} & set(file.relative_to(backends).parts):
                for node in ast.walk(ast.parse(file.read_text())):
                    if isinstance(node, ast.ClassDef) and "BackendDetails" in map(ast.unparse, node.bases):
                        found.add(node.name)
        self.assertEqual({row.backend.partition(",")[0].strip("`") for row in _rows()}, found)

    def test_runtimes_are_those_of_the_wheel(self) -> None:
        libraries = (_wheel() / "lib").glob("libexecutorch_backend_*.so")
        self.assertCountEqual(
            [row.runtime for row in _rows() if row.runtime != "no"],
            [f"`@rules_executorch//runtime:{file.stem.removeprefix('libexecutorch_')}`" for file in libraries],
        )

    def test_every_backend(self) -> None:
        for row in _rows():
            with self.subTest(row.partitioner):
                came_of_it = self.lower(row)
                if row.lowers == "no":
                    (quoted,) = re.findall('"(.*)"', row.needs)
                    self.assertIn(quoted, came_of_it)
                else:
                    self.assertEqual(row.lowers, came_of_it)


if __name__ == "__main__":
    absltest.main()
