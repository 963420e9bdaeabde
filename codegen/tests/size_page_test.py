"""Tests of the page of a size report, on reports that are made by hand."""

from __future__ import annotations

import html
import re

from absl.testing import absltest

from codegen.artifacts.size_report import SizeReport
from codegen.model.sizes import OPERATORS, RUNNER, Part
from codegen.pages import size_page

_BOX = re.compile(r'<a class="box[^"]*" href="#([^"]+)" title="([^"]+)"')


def _report(*parts: Part) -> SizeReport:
    return SizeReport("//app:runner", parts, ())


class SizePageTest(absltest.TestCase):
    def _assert_each_name_has_a_box(self, page: str, names: list[str]) -> None:
        """Checks that, from the overview of each shape of screen, links lead to each name once, and to its line."""
        line_of = dict(re.findall(r'<li id="([^"]+)">(?:<details><summary>)?<span class="row"><span>([^<]+)', page))
        sections = dict(re.findall(r'<section class="[^"]+" id="([^"]+)">\n(.+?)\n</section>', page, re.DOTALL))
        for shape in ("wide", "tall"):
            found, pending = [], [shape]
            while pending:
                for link, title in _BOX.findall(sections.pop(pending.pop())):
                    if link in line_of:
                        self.assertIn(f": {line_of[link]}, ", title)
                        found.append(html.unescape(line_of[link]))
                    else:
                        pending.append(link)
            self.assertCountEqual(found, names)
        self.assertEqual(sections, {})

    def test_names_of_any_number_and_size(self) -> None:
        for bytes_of in (lambda i: 8, lambda i: 1 + i * i, lambda i: 2 ** (i // 40)):
            for number in (1, 19, 20, 21, 22, 700):
                names = [f"f<{i}>" for i in range(number)]
                parts = [Part(RUNNER, name, "", bytes_of(i)) for i, name in enumerate(names)]
                page = size_page.render(_report(*parts, Part(OPERATORS, "aten::add.out", "Float", 5000)), None)
                self._assert_each_name_has_a_box(page, [*names, "aten::add.out"])

    def test_changes(self) -> None:
        report = _report(
            Part(RUNNER, "same", "", 5), Part(RUNNER, "more", "", 1030), Part(OPERATORS, "aten::add.out", "Float", 5735)
        )
        baseline = _report(Part(RUNNER, "same", "", 5), Part(RUNNER, "more", "", 1000), Part(RUNNER, "less", "", 7))
        page = size_page.render(report, baseline)
        changes = page[page.index("<h2>Changes</h2>") : page.index("<h2>Operators</h2>")]
        self.assertIn("<details>\n<summary>3 parts changed: +5,765 and -7 bytes</summary>", changes)
        rows = re.findall(r"<li>.*?</li>", changes)
        self.assertEqual(
            [re.sub("<[^>]+>", "", row) for row in rows],
            ["aten::add.out operators+5,735 new", "more runner+30 of 1,000", "less runner-7 gone"],
        )
        # What is gone has no box, and a line.
        self._assert_each_name_has_a_box(page, ["same", "more", "aten::add.out"])

    def test_one_change(self) -> None:
        page = size_page.render(_report(Part(RUNNER, "f", "", 7)), _report(Part(RUNNER, "f", "", 5)))
        self.assertIn("<summary>1 part changed: +2 and 0 bytes</summary>", page)


if __name__ == "__main__":
    absltest.main()
