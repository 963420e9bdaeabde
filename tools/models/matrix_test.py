from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.bench import report
from tools.models import matrix


class MatrixTest(absltest.TestCase):
    def test_document(self) -> None:
        document = Path(self.create_tempfile(content=Path("docs/models.md").read_text()).full_path)
        report.replace_section(document, matrix.SECTION, matrix.section(*matrix.read()))
        self.assertEqual(
            Path("docs/models.md").read_text(),
            document.read_text(),
            "docs/models.md is not that of examples/models; update it: tools/bazel run //tools/models:matrix",
        )

    def test_table(self) -> None:
        text = matrix.section(
            {
                "sources": ["//m:b", "//m:a"],
                "operators": {
                    "aten::mm.out": {"//m:b": {"dtypes": ["Half"]}},
                    "aten::add.out": {"//m:b": {"dtypes": ["Half", "Bool"]}, "//m:a": {"dtypes": ["Float"]}},
                    "aten::sym_size.int": {"//m:a": {"dtypes": None}},
                },
            },
            {
                "a": {"weights": 12_340_000, "default": 12_360_000, "all_passes": 29_000_000},
                "b": {"weights": 1_000_000, "default": 290_000},
            },
        )
        for line in (
            "| model | operators | weights | `.pte` | `.pte` with all passes |",
            "| 1. `a` | 2 | 12.3 | 12.4 | 29.0 |",
            "| 2. `b` | 2 | 1.0 | 0.3 |  |",
            "| operator | dtypes | 1 | 2 |",
            "| `aten::add.out` | Bool Float Half | x | x |",
            "| `aten::mm.out` | Half |  | x |",
            "| `aten::sym_size.int` | any | x |  |",
        ):
            self.assertIn(line, text.splitlines())


if __name__ == "__main__":
    absltest.main()
