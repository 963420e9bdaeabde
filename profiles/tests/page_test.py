"""Tests of what a page shows, on profiles that are made by hand."""

from __future__ import annotations

from absl.testing import absltest

from profiles import page
from profiles.etdump import Event, Part, Run
from profiles.profile_data import Frame, Origin, Profile, summarize
from profiles.tests import document

_FRAME = Frame("model.py", 7, "forward", "return x < y & z")


def _origin(operator: str, *stack: Frame, parts: tuple[Origin, ...] = ()) -> Origin:
    return Origin(operator, "net.block", stack, parts)


def _profile() -> Profile:
    """Three runs of two instructions; the second is that of a delegate."""
    runs = [
        Run(
            1000,
            1000 + total,
            (
                Event(0, "mm.out", 1000, 1000 + first, ()),
                Event(4, "", 1000 + first, 1000 + total, (Part("Conv <1>", second // 2), Part("Add", 10))),
            ),
        )
        for total, first, second in ((4000, 1000, 3000), (9000, 6000, 3000), (5000, 2000, 3000))
    ]
    taken = (_origin("aten::conv", Frame("model.py", 9, "forward", "conv(x)")), _origin("aten::add", _FRAME))
    return summarize(runs, {0: _origin("aten::mm.out", _FRAME), 4: _origin("Backend", parts=taken)})


class SummarizeTest(absltest.TestCase):
    def test_typical_run(self) -> None:
        profile = _profile()
        self.assertEqual(profile.runs, 3)
        self.assertEqual(profile.run.ns, 5000)
        self.assertEqual(
            [(node.number, node.operator, node.ns) for node in profile.nodes],
            [(0, "aten::mm.out", 2000), (4, "Backend", 3000)],
        )
        self.assertEqual(profile.nodes[1].parts, (Part("Conv <1>", 1500), Part("Add", 10)))

    def test_without_origins(self) -> None:
        profile = summarize([Run(0, 9, (Event(0, "mm.out", 0, 5, ()), Event(1, "", 5, 9, ())))], {})
        self.assertEqual([node.operator for node in profile.nodes], ["mm.out", "?"])
        self.assertIn("The export says nothing of this node.", document.read(page.render("p", profile)).text)


class PageTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.text = page.render("//x:y <profile>", _profile())
        self.page = document.read(self.text)

    def _section(self, title: str) -> document.Element:
        (body,) = self.page.all("body")
        (at,) = [i for i, child in enumerate(body.children) if child.tag == "h2" and child.text == title]
        return next(child for child in body.children[at:] if child.tag in ("ul", "div"))

    def test_needs_nothing_else(self) -> None:
        for tag in ("script", "link", "img", "iframe", "object"):
            self.assertEqual(self.page.all(tag), [])
        (style,) = self.page.all("style")
        for loading in ("@import", "url(", "http:", "https:", "src="):
            self.assertNotIn(loading, style.text)
        self.assertNotIn("src", {name for element in self.page.all("body") for name in element.attributes})

    def test_phone_and_dark_mode(self) -> None:
        meta = {element.attributes.get("name"): element.attributes.get("content") for element in self.page.all("meta")}
        self.assertEqual(meta["viewport"], "width=device-width, initial-scale=1")
        self.assertEqual(meta["color-scheme"], "light dark")
        (style,) = self.page.all("style")
        light, _, dark = style.text.partition("@media (prefers-color-scheme: dark)")
        variables = [line for part in (light, dark) for line in part.splitlines() if "--text:" in line]
        self.assertEqual(len(variables), 2)
        # Each color of the light scheme has one of the dark scheme.
        names = [[word for word in line.split() if word.startswith("--")] for line in variables]
        self.assertEqual(*names)

    def test_title(self) -> None:
        self.assertEqual(self.page.all("title")[0].text, "//x:y <profile>")
        self.assertIn("5.00 µs: the median of 3 runs", self.page.text)

    def test_operators(self) -> None:
        items = self._section("By operator").all("li")
        self.assertEqual(
            [item.text for item in items],
            ["Backend 1 call3.00 µs 60.0%", "aten::mm.out 1 call2.00 µs 40.0%", "the runtime itself0.00 µs 0.0%"],
        )
        widths = [span.attributes["style"] for item in items for span in item.all("span") if "style" in span.attributes]
        self.assertEqual(widths, ["width: 60.00%", "width: 40.00%", "width: 0.00%"])

    def test_timeline(self) -> None:
        rects = self._section("Timeline").all("rect")
        self.assertEqual(
            [(rect.attributes["x"], rect.attributes["width"], rect.text) for rect in rects],
            [
                ("0.00", "400.00", "aten::mm.out, node 0: 2.00 µs"),
                ("400.00", "600.00", "Backend, node 4: 3.00 µs"),
            ],
        )
        self.assertEqual([rect.attributes["class"] for rect in rects], ["c1", "c0"])

    def test_lines(self) -> None:
        # What the backend took comes from two lines, which share the time.
        self.assertEqual(
            [item.text for item in self._section("By line of Python").all("li")],
            ["model.py:7return x < y & z3.50 µs 70.0%", "model.py:9conv(x)1.50 µs 30.0%"],
        )

    def test_nodes(self) -> None:
        slowest, other = self._section("By node").all("details")
        self.assertEqual(slowest.all("summary")[0].text, "Backend node 43.00 µs")
        self.assertIn("aten::conv model.py:9", slowest.text)
        self.assertIn("Conv <1>1.50 µs 30.0%", slowest.text)
        self.assertEqual(other.all("summary")[0].text, "aten::mm.out node 0, model.py:72.00 µs")
        self.assertIn("net.block", other.text)
        self.assertIn("model.py:7, in forward", other.text)
        self.assertEqual(other.all("pre")[0].text, "return x < y & z")


if __name__ == "__main__":
    absltest.main()
