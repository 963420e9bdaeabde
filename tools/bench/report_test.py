from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from absl.testing import absltest

from tools.bench import report

_SVG = "{http://www.w3.org/2000/svg}"


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

    def _marks(self, svg: str) -> list[tuple[str, str, float]]:
        """Of each mark: its color, its shape, and how far to the right it is."""
        marks = [
            path for path in ElementTree.fromstring(svg).iter(f"{_SVG}path") if path.find(f"{_SVG}title") is not None
        ]
        places = [float(re.findall(r"[-\d.]+", mark.attrib["transform"])[0]) for mark in marks]
        return [(mark.attrib["class"], mark.attrib["d"], x) for mark, x in zip(marks, places, strict=True)]

    def test_plot(self) -> None:
        one = ("x", "y", {"a": [(1, 1), (2, 4)], "b": [(1, 2)]})
        marks = self._marks(report.plot({"one": one, "two": ("x", "y", {"c": [(1, 1)]})}, "a grows"))
        self.assertLen(marks, 3 + 4)  # The legends', and the points.

    def test_dots(self) -> None:
        svg = report.dots("speed", {"model": {"a": 0.3, "b": 8.0}, "other": {"b": 1.0}}, "b is fastest")
        self.assertEqual(
            [text.text for text in ElementTree.fromstring(svg).iter(f"{_SVG}text")],
            ["speed", "a", "b", "1/4", "1/2", "1", "2", "4", "8", "model", "other"],
        )
        marks = self._marks(svg)[2:]
        self.assertLen(marks, 3)
        (_, _, a), (_, _, b), (_, _, other_b) = marks
        self.assertEqual(sorted((a, b, other_b)), [a, other_b, b])

    def test_marks_do_not_hide_one_another(self) -> None:
        svg = report.dots("speed", {"model": {"a": 1.0, "b": 1.01, "c": 1.02, "d": 64.0}}, "three are alike")
        lines = [
            float(re.findall(r"[-\d.]+", path.attrib["transform"])[1])
            for path in ElementTree.fromstring(svg).iter(f"{_SVG}path")
            if path.find(f"{_SVG}title") is not None
        ][4:]
        self.assertLen(set(lines[:3]), 3)
        self.assertEqual(lines[3], lines[0])

    def test_series_differ_in_color_and_shape(self) -> None:
        names = "abcdefghi"
        marks = self._marks(report.dots("speed", {"model": {name: i + 1 for i, name in enumerate(names)}}, "all"))
        for values in zip(*((color, shape) for color, shape, _ in marks), strict=True):
            self.assertLen(set(values), len(names))
        with self.assertRaisesRegex(ValueError, "10 series"):
            report.dots("speed", {"model": {name: 1 for name in "abcdefghij"}}, "too much")

    def test_a_plot_says_what_it_shows(self) -> None:
        for svg in (
            report.dots("a < b", {"m": {"a": 1}}, "a & b"),
            report.plot({"a < b": ("", "", {"a": [(1, 1)]})}, "a & b"),
        ):
            root = ElementTree.fromstring(svg)
            described = [root.findtext(f"{_SVG}{name}") for name in ("title", "desc")]
            self.assertEqual(described, ["a < b", "a & b"])
            self.assertEqual(root.attrib["role"], "img")


if __name__ == "__main__":
    absltest.main()
