from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.floors import floors
from tools.floors.floors import Import

_ROOT = Path(floors.__file__).parents[2]
_HOUSE = (("cellar",), ("hall", "kitchen"), ("hall/loft",))


class FloorsTest(absltest.TestCase):
    def test_this_tree(self) -> None:
        found = list(floors.all_imports(_ROOT))
        used = {(floors.folder(str(each.source.parent)), floors.folder(each.target)) for each in found}
        for language, pair in (
            ("Python", ("codegen/inputs", "codegen/model")),
            ("C++", ("kernels/portable", "kernels/elementwise")),
            ("Starlark", ("rules", "rules/private/executorch")),
        ):
            self.assertIn(pair, used, language)
        self.assertEqual(floors.running_up(found), [])

    def test_running_up(self) -> None:
        found = [
            Import(Path("hall/a.py"), 3, "cellar/wine"),
            Import(Path("cellar/b.cpp"), 4, "hall/c.h"),
            Import(Path("hall/d.bzl"), 5, "kitchen"),
            Import(Path("hall/loft/e.py"), 6, "hall/a"),
            Import(Path("hall/f.py"), 7, "hall/loft/e"),
            Import(Path("hall/g.py"), 8, "json"),
        ]
        self.assertEqual(
            floors.running_up(found, _HOUSE),
            [
                "cellar/b.cpp:4:1: error: cellar imports hall, which is on a higher floor",
                "hall/d.bzl:5:1: error: hall imports kitchen, which is on the same floor",
                "hall/f.py:7:1: error: hall imports hall/loft, which is on a higher floor",
            ],
        )

    def test_each_language(self) -> None:
        root = Path(self.create_tempdir().full_path)
        for name, text in (
            ("a.py", "import x.y\nfrom z import (\n    w,\n)\nfrom . import v\n"),
            ("b.cpp", '#include <string>\n#include "x/y.h"\n'),
            ("c.bzl", 'load(":d.bzl", "d")\nload(\n    "//x/y:z.bzl",\n    "z",\n)\n'),
            ("tests/e.py", "import above\n"),
            ("f_test.py", "import above\n"),
        ):
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)
        found = [(str(each.source), each.line, each.target) for each in floors.imports(root)]
        self.assertEqual(found, [("a.py", 1, "x/y"), ("a.py", 2, "z/w"), ("b.cpp", 2, "x/y.h"), ("c.bzl", 3, "x/y")])


if __name__ == "__main__":
    absltest.main()
