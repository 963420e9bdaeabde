"""Tests of what a profile says of runs, of its page and of its trace, on runs that are made by hand."""

from __future__ import annotations

import json
import random
import statistics
import tracemalloc
from collections.abc import Iterator
from typing import Any

from absl.testing import absltest

from profiles import page, trace
from profiles.calls import Call
from profiles.etdump import Event, Kind, Part, Run
from profiles.profile_data import Frame, Origin, Profile, Times, summarize
from profiles.tests import document

_FRAME = Frame("model.py", 7, "forward", "return x < y & z </script>")
_CALLS = {0: Call("aten::mm.out", ("Float [2, 3]", "Float [3, 4] constant"), ("Float [2, 4]",))}


def _origin(operator: str, *stack: Frame, parts: tuple[Origin, ...] = ()) -> Origin:
    return Origin(operator, "net.block", stack, parts)


_TAKEN = (_origin("aten::conv", Frame("model.py", 9, "forward", "conv(x)")), _origin("aten::add", _FRAME))
_ORIGINS = {0: _origin("aten::mm.out", _FRAME), 4: _origin("Backend", parts=_TAKEN)}


def _run(*ns: int, start: int = 1000, kind: Kind = Kind.TIMED, sample: int | None = 0) -> Run:
    """A run whose instructions take so long, with 10 ns of the runtime before each."""
    events = []
    end = start
    for instruction, each in enumerate(ns):
        events.append(Event(instruction, "mm.out", end + 10, end + 10 + each, ()))
        end += 10 + each
    return Run(start, end, tuple(events), kind, sample)


def _runs() -> list[Run]:
    """Three runs of two instructions; the second is that of a delegate."""
    return [
        Run(
            1000,
            1000 + total,
            (
                Event(0, "mm.out", 1000, 1000 + first, ()),
                Event(
                    4,
                    "",
                    1000 + first,
                    1000 + total,
                    (Part("Conv <1>", 1000 + first, 1000 + first + second // 2), Part("Add", 900 + total, 990 + total)),
                ),
            ),
            Kind.TIMED,
            0,
        )
        for total, first, second in ((4000, 1000, 3000), (9000, 6000, 3000), (5000, 2000, 3000))
    ]


def _profile(runs: list[Run]) -> Profile:
    profile = summarize(runs, _ORIGINS, _CALLS)
    assert profile
    return profile


class SummarizeTest(absltest.TestCase):
    def test_quantiles(self) -> None:
        numbers = random.Random(1)
        for size in (2, 3, 10, 11, 1000):
            ns = [numbers.randrange(10**9) for _ in range(size)]
            tenths = statistics.quantiles(ns, n=10, method="inclusive")
            times = Times.of(ns)
            for ours, expected in (
                (times.median, statistics.median(ns)),
                (times.p10, tenths[0]),
                (times.p90, tenths[8]),
                (times.least, min(ns)),
                (times.most, max(ns)),
            ):
                self.assertAlmostEqual(ours, expected, places=3)
        self.assertEqual(Times.of([7]), Times(1, 7, 7, 7, 7, 7))

    def test_preempted_nodes(self) -> None:
        # In each run, another node is preempted: no run is typical, and the medians are.
        runs = [_run(*(8_000_000 if node == run % 20 else 1000 + node for node in range(20))) for run in range(1000)]
        (view,) = _profile(runs).views
        for node in range(20):
            self.assertEqual(view.nodes[node].median, 1000 + node)
            self.assertEqual(view.nodes[node].p90, 1000 + node)
            self.assertEqual(view.nodes[node].most, 8_000_000)
        self.assertEqual([span.ns for span in view.timeline], [1000 + node for node in range(20)])
        self.assertEqual((view.runtime.median, view.total.runs), (200, 1000))

    def test_kinds_are_apart(self) -> None:
        runs = [
            _run(9000, kind=Kind.FIRST),
            _run(7000, kind=Kind.WARM_UP),
            _run(7000, kind=Kind.WARM_UP),
            *(_run(ns) for ns in (10, 30, 20)),
        ]
        profile = _profile(runs)
        self.assertEqual(profile.counts, {Kind.FIRST: 1, Kind.WARM_UP: 2, Kind.TIMED: 3})
        self.assertEqual(profile.kind, Kind.TIMED)
        self.assertEqual(profile.views[0].nodes[0], Times.of([10, 20, 30]))
        # Without timed runs, the first ones are all that there is.
        profile = _profile(runs[:1])
        self.assertEqual((profile.kind, profile.views[0].nodes[0].median), (Kind.FIRST, 9000))
        self.assertIsNone(summarize([], {}, {}))

    def test_samples_are_apart(self) -> None:
        profile = _profile([_run(100 * (1 + i % 2), sample=i % 2) for i in range(6)])
        self.assertEqual(profile.samples, 2)
        self.assertEqual([view.sample for view in profile.views], [None, 0, 1])
        self.assertEqual([view.nodes[0].median for view in profile.views], [150, 100, 200])
        self.assertEqual([view.total.runs for view in profile.views], [6, 3, 3])
        # Of many samples, the page would be as many times as long.
        self.assertEqual(len(_profile([_run(100, sample=i) for i in range(100)]).views), 1)

    def test_numbers_of_threads_are_apart(self) -> None:
        # The second run has a node that the first has not.
        one, two = (summarize([_run(*ns)], {}, {}, len(ns)) for ns in ([100], [60, 7]))
        assert one and two
        profile = Profile.joined([one, two])
        self.assertEqual([view.threads for view in profile.views], [1, 2])
        self.assertEqual([view.nodes[0].median for view in profile.views], [100, 60])
        self.assertEqual([node.number for node in profile.nodes], [0, 1])
        self.assertNotIn(1, profile.views[0].nodes)

    def test_loops_and_branches(self) -> None:
        def run(body: int, times: int, *, branch: bool) -> Run:
            events, at = [], 0
            for _ in range(times):
                events.append(Event(3, "sin.out", at, at + body, ()))
                at += body
            if branch:
                events.append(Event(5, "cos.out", at, at + 7, ()))
            return Run(0, at + 7, tuple(events), Kind.TIMED, 0)

        (view,) = _profile([run(10, 3, branch=False), run(20, 3, branch=True), run(30, 2, branch=False)]).views
        # The calls of a loop add up.
        self.assertEqual(view.nodes[3], Times.of([30, 60, 60]))
        self.assertEqual(view.nodes[5], Times.of([7]))
        # A typical run has what at least half of the runs have.
        self.assertEqual([(span.number, span.start) for span in view.timeline], [(3, 0), (3, 20), (3, 30)])

    def test_timeline_has_no_overlaps(self) -> None:
        numbers = random.Random(2)
        (view,) = _profile([_run(*(numbers.randrange(10, 5000) for _ in range(50))) for _ in range(31)]).views
        for before, after in zip(view.timeline, view.timeline[1:], strict=False):
            self.assertLessEqual(before.start + before.ns, after.start)
            self.assertGreater(before.ns, 0)

    def test_without_origins(self) -> None:
        run = Run(0, 9, (Event(0, "mm.out", 0, 5, ()), Event(1, "", 5, 9, ())))
        profile = summarize([run], {}, {})
        assert profile
        self.assertEqual([node.operator for node in profile.nodes], ["mm.out", "?"])

    def test_memory(self) -> None:
        # Runs are read one at a time, and a time of a node takes a few bytes.
        def runs(count: int) -> Iterator[Run]:
            for _ in range(count):
                yield _run(*range(1000))

        tracemalloc.start()
        summarize(runs(100), {}, {})
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        self.assertLess(most, 100 * 1000 * 60)


class PageTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.text = page.render("//x:y <profile>", _profile(_runs()))
        self.page = document.read(self.text)
        self.data: dict[str, Any] = json.loads(self.page.all("script")[0].text)

    def test_needs_nothing_else(self) -> None:
        for tag in ("link", "img", "iframe", "object"):
            self.assertEqual(self.page.all(tag), [])
        for loading in ("@import", "url(", "http:", "https:", "fetch(", "XMLHttpRequest", "import("):
            self.assertNotIn(loading, self.text)
        for element in self.page.all("body")[0].all("script"):
            self.assertNotIn("src", element.attributes)

    def test_phone_and_dark_mode(self) -> None:
        meta = {element.attributes.get("name"): element.attributes.get("content") for element in self.page.all("meta")}
        self.assertEqual(meta["viewport"], "width=device-width, initial-scale=1")
        self.assertEqual(meta["color-scheme"], "light dark")

    def test_counts(self) -> None:
        self.assertEqual(self.page.all("title")[0].text, "//x:y <profile>")
        counts = [
            *(_run(5, kind=Kind.FIRST, sample=i) for i in range(2)),
            *(_run(5, kind=Kind.WARM_UP, sample=i) for i in range(2)),
            *(_run(5, sample=i % 2) for i in range(2000)),
        ]
        for runs, expected in (
            (
                counts,
                "2,000 timed runs of 2 samples; besides, 2 warm-up runs and 2 first runs, of which the page has no",
            ),
            (counts[:2], "2 runs of 2 samples; none was timed apart, with --iterations."),
            ([_run(5, kind=Kind.FIRST, sample=None)], "1 run; none was timed apart"),
        ):
            self.assertIn(expected, document.read(page.render("p", _profile(runs))).text)
        each = [summarize([_run(5)], {}, {}, threads) for threads in (1, 2, 4)]
        joined = Profile.joined([profile for profile in each if profile])
        self.assertIn(
            "1 timed run of 1 sample with each of 3 numbers of threads;", document.read(page.render("p", joined)).text
        )

    def test_nodes(self) -> None:
        first, backend = self.data["nodes"]
        self.assertEqual((first["number"], first["operator"], first["module"]), (0, "aten::mm.out", "net.block"))
        self.assertEqual(self.data["frames"][first["stack"][0]], ["model.py:7", "forward", _FRAME.code])
        self.assertEqual([self.data["tensors"][i] for i in first["inputs"]], list(_CALLS[0].inputs))
        self.assertEqual([self.data["tensors"][i] for i in first["outputs"]], list(_CALLS[0].outputs))
        self.assertEqual([part["operator"] for part in backend["taken"]], ["aten::conv", "aten::add"])
        self.assertEqual(backend["number"], 4)

    def test_times(self) -> None:
        (view,) = self.data["views"]
        self.assertIsNone(view["threads"])
        # How many runs, median, p10, p90, least, most.
        self.assertEqual(view["total"], [3, 5000, 4200, 8200, 4000, 9000])
        self.assertEqual(view["nodes"][0]["times"], [3, 2000, 1200, 5200, 1000, 6000])
        self.assertEqual(view["nodes"][1]["times"], [3, 3000, 3000, 3000, 3000, 3000])
        self.assertEqual(view["nodes"][1]["parts"], [["Conv <1>", 3, *[1500] * 5], ["Add", 3, *[90] * 5]])
        self.assertEqual(view["timeline"], [[0, 0, 2000], [1, 2000, 3000]])

    def test_a_node_that_a_sample_lacks(self) -> None:
        profile = _profile([_run(5, 6, sample=0), _run(5, sample=1)])
        data = json.loads(document.read(page.render("p", profile)).all("script")[0].text)
        self.assertEqual([view["nodes"][1] and view["nodes"][1]["times"][0] for view in data["views"]], [1, 1, None])


class TraceTest(absltest.TestCase):
    def test_events(self) -> None:
        runs = [_run(9, 9, start=0, kind=Kind.FIRST), *_runs()]
        text = "".join(trace.lines("//x:y <profile>", "forward", runs, _ORIGINS, _CALLS))
        content = json.loads(text)
        title, thread, *events = content["traceEvents"]
        self.assertEqual([each["args"] for each in (title, thread)], [{"name": "//x:y <profile>"}, {"name": "forward"}])
        self.assertEqual({event["ph"] for event in events}, {"X"})
        whole = [event for event in events if event["cat"] == "run"]
        self.assertEqual(
            [(event["name"], event["args"]) for event in whole],
            [("first run 0", {"sample": 0}), *((f"timed run {i}", {"sample": 0}) for i in range(3))],
        )
        self.assertEqual([round(event["dur"] * 1000) for event in whole], [run.ns for run in runs])
        nodes = [event for event in events if event["cat"] == "node"]
        self.assertEqual(
            [(event["args"]["node"], round(event["ts"] * 1000), round(event["dur"] * 1000)) for event in nodes],
            [(event.instruction, event.start, event.ns) for run in runs for event in run.events],
        )
        self.assertEqual(
            nodes[0]["args"],
            {
                "node": 0,
                "module": "net.block",
                "line": "model.py:7",
                "in": "Float [2, 3]; Float [3, 4] constant",
                "out": "Float [2, 4]",
            },
        )

    def test_events_nest(self) -> None:
        # Events of one thread must nest, also where a backend's clock is coarser than the runtime's.
        parts = (Part("early", 900, 1200), Part("late", 1300, 9000))
        run = Run(990, 2000, (Event(0, "", 1000, 1500, parts),), Kind.TIMED, 0)
        content = json.loads("".join(trace.lines("x", "forward", [run, run], {}, {})))
        ends: dict[str, float] = {}
        for event in (event for event in content["traceEvents"] if event["ph"] == "X"):
            outer = {"node": "run", "backend": "node"}.get(event["cat"])
            ends[event["cat"]] = event["ts"] + event["dur"]
            if outer:
                self.assertLessEqual(ends[event["cat"]], ends[outer])
        told = [event["args"]["ns"] for event in content["traceEvents"] if event.get("cat") == "backend"]
        self.assertEqual(told, [300, 7700] * 2)


if __name__ == "__main__":
    absltest.main()
