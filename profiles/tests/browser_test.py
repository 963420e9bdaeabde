"""Tests of a page in a browser: on a phone and on a wide screen, light and dark, by mouse, finger and keyboard."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from absl.testing import absltest

from profiles import page
from profiles.calls import Call
from profiles.etdump import Event, Kind, Part, Run
from profiles.profile_data import Frame, Origin, Profile, summarize
from third_party import browser

# What the other scripts say in.
_WORDS = """\
  const $ = (selector) => page.querySelector(selector);
  const all = (selector) => [...page.querySelectorAll(selector)];
  const rows = () => all("#rows > tr").map((row) => row.querySelector("code")?.textContent ?? row.cells[0].innerText);
  const number = (text) => Number(/node ([0-9]+)/.exec(text)?.[1]);
  const nodes = () => all("#rows > tr.node").map((row) => number(row.querySelector("small").textContent));
  const groups = () => all("#rows > tr.group").map((row) => row.innerText.replace(/\\s+/g, " "));
  const choose = (id, value) => {
    $(id).value = value;
    $(id).dispatchEvent(new Event(id === "#filter" ? "input" : "change", {bubbles: true}));
  };
  const key = (name) => $("#lane").dispatchEvent(new KeyboardEvent("keydown", {key: name, cancelable: true}));
  const at = (part) => {
    const area = $("#timeline").getBoundingClientRect();
    return {clientX: area.left + part * area.width, clientY: area.top + area.height / 2, bubbles: true};
  };
  const point = (kind, part, pointerId = 1) => $("#timeline").dispatchEvent(
    new PointerEvent(`pointer${kind}`, {...at(part), pointerId, pointerType: "touch"}));
  const tap = (part) => { point("down", part); point("up", part); };
  const shownAt = (part) => { point("move", part, 9); return number($("#status").textContent); };
  const color = (part, y = 0.35) => {
    const canvas = $("#timeline"), paint = canvas.getContext("2d");
    return [...paint.getImageData(part * canvas.width, y * canvas.height, 1, 1).data].slice(0, 3).join();
  };
"""

_LOOK = """\
  measured.width = page.documentElement.scrollWidth;
  measured.colors = Array.from({length: 12}, (_, i) => color((i + 0.5) / 12));
  $("#rows tr.group button").click();
  $("#rows tr.node button").click();
  measured.open = $("#rows tr.inside").innerText;
  measured.widthOpen = page.documentElement.scrollWidth;
  measured.background = style(page.body).backgroundColor;
  measured.text = style(page.body).color;
  measured.soft = style($("small")).color;
  measured.selected = style($("tr.selected")).backgroundColor;
  measured.border = style($("#filter")).borderColor;
  measured.bars = all("tr.group .bar > span").map((bar) => bar.offsetWidth);
  measured.fontSize = parseFloat(style(page.body).fontSize);
  const controls = all("button, select, input, #lane").filter((each) => each.offsetWidth);
  measured.controls = controls.map((each) => each.offsetHeight);
  measured.canvas = $("#timeline").offsetWidth;
  measured.unnamed = controls.filter(
    (each) => !(each.getAttribute("aria-label") || each.labels?.length || each.textContent.trim())).length;
  measured.cells = [...$("#rows tr.node").cells].slice(1).map((cell) => cell.innerText);
"""


def _profile_page() -> str:
    """The page of a profile with long names, as models of transformers have them."""
    operators = [f"aten::_native_batch_norm_legit_no_training_{i}.out" for i in range(12)]
    frame = Frame("transformers/models/mobilenet_v2/modeling_mobilenet_v2.py", 147, "forward", "features = " + "x" * 90)
    origins = {i: Origin(name, "model.layers.0.attention.self", (frame, frame), ()) for i, name in enumerate(operators)}
    runs = []
    for run in range(11):
        events = [
            Event(
                i, "", 1000 * i, 1000 * i + 900 - 5 * i + 10 * run, (Part("Fully Connected (NC, F32) GEMM #1", 0, 90),)
            )
            for i in range(12)
        ]
        runs.append(Run(0, 12000, tuple(events), Kind.TIMED, 0))
    return _page(runs, origins, {i: Call(name, ("Float [1, 64, 112, 112]",), ()) for i, name in enumerate(operators)})


def _ten_nodes(samples: int = 1) -> str:
    """The page of ten nodes of two operators and three modules, each a tenth of the run; node 7 is the least steady."""
    modules = ["a.first", "a.second", "b.c.d"]
    origins = {
        i: Origin(
            f"aten::op{i % 2}.out", modules[i % 3], (Frame("model.py", 10 + i % 3, "forward", f"line{i % 3}"),), ()
        )
        for i in range(10)
    }
    # What a backend took came from two modules.
    origins[9] = Origin("Backend", "", (), (origins[0], origins[2]))
    runs = []
    for run in range(20):
        events = tuple(Event(i, "", 1000 * i, 1000 * i + 990 - (run if i == 7 else 0), ()) for i in range(10))
        runs.append(Run(0, 10_000, events, Kind.TIMED, run % samples))
    calls = {
        i: Call(origin.operator, (f"Float [{i}, 4]",), (f"Long [{i}, 5]",) if i < 9 else ())
        for i, origin in origins.items()
    }
    return _page(runs, origins, calls)


def _threads(*counts: int) -> str:
    """The page of three nodes of two operators, with numbers of threads. The last node gains nothing."""
    origins = {i: Origin(f"aten::op{i // 2}.out", "", (), ()) for i in range(3)}
    profiles = []
    for threads in counts:
        ns = (400 // threads, 200 // threads, 300)
        ends = [*itertools.accumulate(ns)]
        events = tuple(Event(i, "", end - each, end, ()) for i, (each, end) in enumerate(zip(ns, ends, strict=True)))
        runs = [Run(0, ends[-1] + 100, events, Kind.TIMED, sample) for sample in (0, 1)]
        profile = summarize(runs, origins, {}, threads)
        assert profile
        profiles.append(profile)
    return page.render("p", Profile.joined(profiles))


def _page(runs: Sequence[Run], origins: dict[int, Origin], calls: dict[int, Call]) -> str:
    profile = summarize(runs, origins, calls)
    assert profile
    return page.render("//a/rather/long/package:binary.profile", profile)


class BrowserTest(absltest.TestCase):
    def _measure(self, text: str, script: str, width: int = 1280, *, is_dark: bool = False) -> dict[str, Any]:
        return browser.measure(text, width, Path(self.create_tempdir().full_path), _WORDS + script, is_dark=is_dark)

    def test_light_phone(self) -> None:
        self._check_look(360, is_dark=False)

    def test_dark_small_phone(self) -> None:
        self._check_look(320, is_dark=True)

    def test_light_wide_screen(self) -> None:
        self._check_look(1280, is_dark=False)

    def test_dark_wide_screen(self) -> None:
        self._check_look(1280, is_dark=True)

    def _check_look(self, width: int, *, is_dark: bool) -> None:
        measured = self._measure(_profile_page(), _LOOK, width, is_dark=is_dark)
        # Nothing is wider than the screen, open or not.
        self.assertLessEqual(measured["width"], width)
        self.assertLessEqual(measured["widthOpen"], width)
        self.assertGreater(measured["canvas"], 0.7 * min(width, 1000))
        self.assertEqual(browser.luminance(measured["background"]) < 0.1, is_dark)
        # What WCAG asks of text and of controls (AA), and of what a finger hits.
        for background in ("background", "selected"):
            self.assertGreaterEqual(browser.contrast(measured["text"], measured[background]), 4.5)
            self.assertGreaterEqual(browser.contrast(measured["soft"], measured[background]), 4.5)
        self.assertGreaterEqual(browser.contrast(measured["border"], measured["background"]), 3)
        self.assertGreaterEqual(measured["fontSize"], 16)
        self.assertGreaterEqual(min(measured["controls"]), 24)
        self.assertEqual(measured["unnamed"], 0)
        # The bars are as long as their times.
        self.assertEqual(measured["bars"], sorted(measured["bars"], reverse=True))
        self.assertGreater(measured["bars"][0], 0)
        # Eight operators have a color, and the others have one together.
        self.assertEqual(len(set(measured["colors"])), 9)
        for color in measured["colors"]:
            self.assertGreaterEqual(browser.contrast(measured["text"], color), 4.5)
        self.assertEqual(measured["cells"], ["0.95 µs", "0.91 µs", "0.99 µs", "7.9%"])
        for text in (
            "p10 0.91 µs, p90 0.99 µs, least 0.90 µs, most 1.00 µs, in 11 runs",
            "model.layers.0.attention.self",
            "Float [1, 64, 112, 112]",
            "transformers/models/mobilenet_v2/modeling_mobilenet_v2.py:147, in forward",
            "Fully Connected (NC, F32) GEMM #1: 0.09 µs, p10 0.09 µs, p90 0.09 µs",
        ):
            self.assertIn(text, measured["open"])

    def test_groups(self) -> None:
        measured = self._measure(
            _ten_nodes(),
            """\
  measured.operators = rows();
  choose("#group", "module");
  measured.modules = groups();
  $("#rows tr.group button").click();
  measured.modulesOpen = rows();
  measured.focused = page.activeElement.closest("tr").innerText.split("\\n")[0] + page.activeElement.ariaExpanded;
  choose("#group", "line");
  measured.lines = groups();
  choose("#group", "none");
  measured.nodes = nodes();
""",
        )
        self.assertEqual(measured["operators"], ["aten::op0.out", "aten::op1.out", "Backend", "the runtime itself"])
        # Of the backend's time, module a.first has a half, and b the other.
        self.assertEqual(measured["modules"], ["▸ a 7 nodes 6.43 µs 64.3%", "▸ b.c.d 4 nodes 3.47 µs 34.6%"])
        # The focus stays with what was opened, though the rows are new.
        self.assertEqual(measured["focused"], "▾ a 7 nodestrue")
        self.assertEqual(measured["modulesOpen"], ["a", "first", "second", "b.c.d", "the runtime itself"])
        self.assertEqual(
            measured["lines"],
            [
                "▸ model.py:10 4 nodes line0 3.47 µs 34.6%",
                "▸ model.py:12 4 nodes line2 3.47 µs 34.6%",
                "▸ model.py:11 3 nodes line1 2.96 µs 29.6%",
            ],
        )
        self.assertCountEqual(measured["nodes"], range(10))

    def test_sorts(self) -> None:
        measured = self._measure(
            _ten_nodes(),
            """\
  choose("#group", "none");
  for (const order of ["time", "spread", "name", "order"]) {
    choose("#sort", order);
    measured[order] = nodes();
  }
""",
        )
        self.assertEqual(measured["time"][-1], 7)
        self.assertEqual(measured["spread"], [7, 0, 1, 2, 3, 4, 5, 6, 8, 9])
        self.assertEqual(measured["name"], [0, 2, 4, 6, 8, 1, 3, 5, 7, 9])
        self.assertEqual(measured["order"], list(range(10)))

    def test_filter(self) -> None:
        measured = self._measure(
            _ten_nodes(),
            """\
  choose("#group", "none");
  choose("#sort", "order");
  const places = Array.from({length: 10}, (_, i) => i / 10 + 0.005), colors = places.map((at) => color(at));
  for (const words of ["OP1", "a.second", "model.py:11", "line1", "[3, 4]", "node 3", "nothing"]) {
    choose("#filter", words);
    const dim = places.map((at, i) => color(at) !== colors[i]);
    measured[words] = {nodes: nodes(), found: $("#found").textContent, dim};
  }
  choose("#filter", "");
  measured.all = $("#found").textContent;
""",
        )
        for words, expected in (
            ("OP1", [1, 3, 5, 7]),
            ("a.second", [1, 4, 7]),
            ("model.py:11", [1, 4, 7]),
            ("line1", [1, 4, 7]),
            ("[3, 4]", [3]),
            ("node 3", [3]),
            ("nothing", []),
        ):
            self.assertEqual(measured[words]["nodes"], expected, words)
            self.assertTrue(
                measured[words]["found"].startswith(f"{len(expected)} of 10 nodes"), measured[words]["found"]
            )
            # In the timeline, the others are pale.
            self.assertEqual(measured[words]["dim"], [i not in expected for i in range(10)])
        self.assertEqual(measured["all"], "10 nodes, 9.89 µs")

    def test_timeline_and_table_are_linked(self) -> None:
        measured = self._measure(
            _ten_nodes(),
            """\
  const inside = () => $("tr.inside")?.innerText ?? "";
  const isSeen = () => {
    const row = $("tr.selected").getBoundingClientRect();
    return row.top > $("#timeline").getBoundingClientRect().bottom && row.top < 800;
  };
  const before = color(0.301, 0.4);
  tap(0.35);
  measured.tapped = {
    node: number($("tr.node.selected small").textContent), status: $("#status").textContent, seen: isSeen(),
    inside: inside(),
  };
  measured.outlined = color(0.301, 0.4) !== before;
  key("ArrowRight");
  measured.next = $("#status").textContent;
  key("ArrowLeft"); key("ArrowLeft");
  measured.previous = $("#status").textContent;
  key("Escape");
  measured.none = [$("#status").textContent, inside()];
  // From the table: the timeline goes to the node.
  choose("#group", "none");
  choose("#sort", "order");
  for (let i = 0; i < 4; ++i) key("+");
  all("tr.node button")[8].click();
  const focused = page.activeElement;
  measured.fromTable = {
    status: $("#status").textContent, middle: shownAt(0.5), expanded: focused.getAttribute("aria-expanded"),
    focus: focused.closest("tr").dataset.node,
  };
  // What the filter hides is shown when it is selected.
  key("0");
  choose("#filter", "node 3");
  tap(0.65);
  measured.hidden = {filter: $("#filter").value, selected: $("tr.selected").dataset.node};
""",
        )
        self.assertEqual(measured["tapped"]["node"], 3)
        self.assertEqual(
            measured["tapped"]["status"], "aten::op1.out, node 3: 0.99 µs, 9.9% (p10 0.99 µs, p90 0.99 µs)"
        )
        self.assertTrue(measured["tapped"]["seen"])
        self.assertIn("Long [3, 5]", measured["tapped"]["inside"])
        self.assertTrue(measured["outlined"])
        self.assertIn("node 4:", measured["next"])
        self.assertIn("node 2:", measured["previous"])
        self.assertEqual(measured["none"], ["", ""])
        self.assertIn("node 8:", measured["fromTable"]["status"])
        self.assertEqual(measured["fromTable"]["middle"], 8)
        self.assertEqual((measured["fromTable"]["expanded"], measured["fromTable"]["focus"]), ("true", "8"))
        self.assertEqual(measured["hidden"], {"filter": "", "selected": "6"})

    def test_zoom(self) -> None:
        measured = self._measure(
            _ten_nodes(),
            """\
  const shown = () => [shownAt(0.02), shownAt(0.98)];
  measured.whole = shown();
  $("#zoom-in").click();
  measured.in = shown();
  $("#right").click();
  measured.right = shown();
  $("#left").click(); $("#left").click();
  measured.left = shown();
  $("#zoom-out").click();
  measured.out = shown();
  key("+"); key("+");
  measured.keys = shown();
  key("End");
  measured.end = shown();
  key("Home");
  measured.home = shown();
  key("0");
  // A drag by a fifth of what is shown, when a half is.
  $("#zoom-in").click();
  point("down", 0.6); point("move", 0.5); point("move", 0.4); point("up", 0.4);
  measured.dragged = shown();
  key("0");
  // Two fingers, which were a fifth of the run apart, and are twice as much.
  point("down", 0.4, 1); point("down", 0.6, 2);
  point("move", 0.3, 1); point("move", 0.7, 2);
  point("up", 0.3, 1); point("up", 0.7, 2);
  measured.pinched = shown();
  measured.selected = $("tr.selected");
  $("#whole").click();
  const wheel = new WheelEvent("wheel", {...at(0), deltaY: -100, ctrlKey: true, cancelable: true});
  $("#timeline").dispatchEvent(wheel);
  measured.wheel = shown();
  // Without Ctrl, the wheel scrolls the page.
  const scroll = new WheelEvent("wheel", {...at(0), deltaY: -100, cancelable: true});
  $("#timeline").dispatchEvent(scroll);
  measured.prevented = [wheel.defaultPrevented, scroll.defaultPrevented];
""",
            width=360,
        )
        for name, expected in (
            ("whole", [0, 9]),
            ("in", [2, 7]),
            ("right", [5, 9]),
            ("left", [0, 4]),
            ("out", [0, 9]),
            ("keys", [3, 6]),
            ("end", [7, 9]),
            ("home", [0, 2]),
            ("dragged", [3, 8]),
            ("pinched", [2, 7]),
            ("wheel", [0, 4]),
            ("prevented", [True, False]),
        ):
            self.assertEqual(measured[name], expected, name)
        self.assertIsNone(measured["selected"])

    def test_time_scale(self) -> None:
        # The scale's labels, as the page paints them.
        measured = self._measure(
            _ten_nodes(),
            """\
  const context = $("#timeline").getContext("2d"), paint = context.fillText.bind(context);
  let labels = [];
  context.fillText = (text, ...place) => { if (/ (ns|µs|ms)$/.test(text)) labels.push(text); paint(text, ...place); };
  $("#whole").click();
  measured.whole = labels;
  labels = [];
  for (let i = 0; i < 5; ++i) $("#zoom-in").click();
  measured.deep = labels.slice(-4);
""",
        )
        self.assertEqual(measured["whole"], [f"{i} µs" for i in range(0, 11)])
        steps = [float(label.removesuffix(" µs")) for label in measured["deep"]]
        self.assertEqual(len({round(b - a, 3) for a, b in itertools.pairwise(steps)}), 1)

    def test_samples(self) -> None:
        script = """\
  measured.hidden = $("#samples").hidden || !$("#samples").offsetWidth;
  measured.choices = [...$("#sample").options].map((option) => option.text);
  measured.total = [$("#total").textContent];
  choose("#sample", 2);
  measured.total.push($("#total").textContent);
"""
        measured = self._measure(_ten_nodes(samples=2), script)
        self.assertFalse(measured["hidden"])
        self.assertEqual(measured["choices"], ["all", "0", "1"])
        self.assertTrue(measured["total"][0].startswith("10.00 µs is the median of 20 runs;"), measured["total"][0])
        self.assertTrue(measured["total"][1].startswith("10.00 µs is the median of 10 runs;"), measured["total"][1])
        self.assertTrue(self._measure(_ten_nodes(), script.partition("choose")[0].rpartition("\n")[0])["hidden"])

    def test_threads(self) -> None:
        script = """\
  const cells = () => all("#rows > tr").map((row) => [...row.cells].slice(1).map((cell) => cell.innerText).join(" "));
  measured.heads = all("#heads th").map((head) => head.innerText);
  measured.hidden = $("#counts").hidden;
  measured.choices = [...$("#threads").options].map((option) => option.text);
  measured.sorts = [...$("#sort").options].map((option) => option.value);
  measured.total = $("#total").textContent;
  measured.groups = cells();
  choose("#group", "none");
  choose("#sort", "lost");
  measured.lost = nodes();
  tap(0.15);
  measured.status = $("#status").textContent;
  measured.columns = $("tr.inside").cells[0].colSpan;
  key("Escape");
  choose("#sample", 1);
  choose("#threads", 0);
  measured.base = cells();
  measured.baseTotal = $("#total").textContent;
"""
        measured = self._measure(_threads(1, 2), script)
        self.assertEqual(measured["heads"], ["Operator", "Median", "p10", "p90", "Share", "1 thread", "Gain"])
        self.assertFalse(measured["hidden"])
        self.assertEqual(measured["choices"], ["1", "2"])
        # The page begins with the last number of threads.
        self.assertTrue(
            measured["total"].startswith(
                "0.70 µs is the median of 2 runs with 2 threads, 1.43 times as fast as with 1"
            ),
            measured["total"],
        )
        self.assertEqual(
            [" ".join(row.split()) for row in measured["groups"]],
            [
                "0.30 µs 42.9% 0.60 µs 2.00",
                "0.30 µs 42.9% 0.30 µs 1.00",
                "0.10 µs 0.10 µs 0.10 µs 14.3% 0.10 µs 1.00",
            ],
        )
        self.assertEqual(measured["lost"], [2, 0, 1])
        self.assertIn("2.00 times as fast as with 1 thread", measured["status"])
        self.assertEqual(measured["columns"], 7)
        self.assertEqual([row.split()[-1] for row in measured["base"]], ["1.00"] * 4)
        self.assertTrue(measured["baseTotal"].startswith("1.00 µs is the median of 1 run with 1 thread, 1.00 times"))
        phone = self._measure(_threads(1, 2), "measured.width = page.documentElement.scrollWidth;", 320)
        self.assertLessEqual(phone["width"], 320)
        measured = self._measure(_ten_nodes(), script.partition("  measured.total")[0])
        self.assertTrue(measured["hidden"])
        self.assertEqual(measured["heads"], ["Operator", "Median", "p10", "p90", "Share"])
        self.assertNotIn("lost", measured["sorts"])

    def test_no_nodes(self) -> None:
        # As of a runtime without events.
        measured = self._measure(
            _page([Run(0, 0, ())], {}, {}),
            """\
  $("#zoom-in").click(); key("ArrowRight"); tap(0.5);
  measured.rows = rows();
  measured.total = $("#total").textContent;
""",
        )
        self.assertEqual(measured["rows"], ["the runtime itself"])
        self.assertTrue(measured["total"].startswith("0.00 µs is the median of 1 run;"), measured["total"])

    def test_many_nodes(self) -> None:
        events = tuple(Event(i, "", 100 * i, 100 * i + 90, ()) for i in range(5000))
        origins = {i: Origin(f"aten::op{i % 50}.out", f"layers.{i // 100}.{i % 100}", (), ()) for i in range(5000)}
        text = _page([Run(0, 500_000, events)] * 3, origins, {})
        self.assertLess(len(text), 2_000_000)
        measured = self._measure(
            text,
            """\
  choose("#group", "none");
  choose("#sort", "order");
  measured.rows = rows().length;
  measured.more = $("#more").textContent;
  $("#more").click();
  measured.rowsMore = rows().length;
  // The table goes as far as the selected node.
  tap(0.5);
  measured.selected = $("tr.selected").dataset.node;
  measured.rowsSelected = rows().length;
""",
        )
        self.assertEqual((measured["rows"], measured["more"]), (201, "Show 500 of 4,800 more rows"))
        self.assertEqual(measured["rowsMore"], 701)
        self.assertTrue(2490 <= int(measured["selected"]) <= 2510, int(measured["selected"]))
        self.assertTrue(2490 <= measured["rowsSelected"] <= 2520, measured["rowsSelected"])


if __name__ == "__main__":
    absltest.main()
