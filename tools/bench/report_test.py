from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from absl.testing import absltest

from tools.bench import report


class ReportTest(absltest.TestCase):
    def test_table(self) -> None:
        self.assertEqual(report.table(("n", "time"), [(1, "2 s")]), "| n | time |\n|---|--:|\n| 1 | 2 s |")

    def test_a_section_is_replaced_and_nothing_else(self) -> None:
        document = Path(self.create_tempfile().full_path)
        document.write_text("# Benchmarks\n\nBefore.\n")
        report.replace_section(document, "growth", "old")
        document.write_text(document.read_text() + "\nAfter.\n")
        report.replace_section(document, "bytes", "other")
        report.replace_section(document, "growth", "new")
        text = document.read_text()
        for part in ("Before.", "After.", "other", "new"):
            self.assertEqual(text.count(part), 1)
        self.assertNotIn("old", text)
        self.assertLess(text.index("new"), text.index("After."))

    def test_a_document_is_made(self) -> None:
        document = Path(self.create_tempdir().full_path) / "benchmarks.md"
        report.replace_section(document, "growth", "text")
        self.assertTrue(document.read_text().startswith("# Benchmarks\n\n<!-- growth: begin -->\n\ntext\n"))

    def test_plot(self) -> None:
        one = ("x", "y", {"a": [(1, 1), (2, 4)], "b": [(1, 2)]})
        svg = report.plot({"one": one, "two": ("x", "y", {"c": [(1, 1)]})})
        circles = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}circle")
        self.assertEqual(len(list(circles)), 4)

    def test_dots(self) -> None:
        svg = report.dots("speed", {"model": {"a": 0.3, "b": 8.0}, "other": {"b": 1.0}})
        root = ElementTree.fromstring(svg)
        circles = list(root.iter("{http://www.w3.org/2000/svg}circle"))
        texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(len(circles), 2 + 3)  # The legend's, and the dots.
        self.assertEqual(texts[3:-2], ["1/4", "1/2", "1", "2", "4", "8"])
        at = [float(circle.attrib["cx"]) for circle in circles[2:]]
        self.assertEqual(sorted(at), [at[0], at[2], at[1]])


if __name__ == "__main__":
    absltest.main()
