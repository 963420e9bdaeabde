"""Tests of profiles of a program that runs, with ExecuTorch's own schema and flatc as the judge of what is recorded."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from absl.testing import absltest

from profiles import calls, etdump, page, profile_data
from profiles.etdump import Kind, Part
from profiles.tests import document

_MODEL = Path("profiles/tests/model.py")
# What the model calls, from the first to the last.
_OPERATORS = [
    "aten::mul.out",
    "aten::addmm.out",
    "aten::relu.out",
    "aten::addmm.out",
    "aten::relu.out",
    "aten::_softmax.out",
]
# What a row of the text has: the time, its share, p10 and p90 with a node, the number, the name.
_ROW = re.compile(r"^ *([0-9.]+) +([0-9.]+) +(?:([0-9.]+) +([0-9.]+) +)?(\d*)  (.+)$", re.MULTILINE)


def _run(binary: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(os.environ[binary]).absolute(), *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
        text=True,
    )


def _data(page: Path) -> dict[str, Any]:
    """The data that a page shows."""
    data: dict[str, Any] = json.loads(document.read(page.read_text()).all("script")[0].text)
    return data


class ProfileTest(absltest.TestCase):
    def _folder(self) -> Path:
        return Path(self.create_tempdir().full_path)

    def _flatc(self, folder: Path, *arguments: str) -> None:
        """Runs flatc in a folder that has ExecuTorch's schemas."""
        shutil.copy(os.environ["ETDUMP_SCHEMA"], folder / "etdump.fbs")
        shutil.copy(os.environ["SCALAR_TYPE_SCHEMA"], folder / "scalar_type.fbs")
        subprocess.run([Path(os.environ["FLATC"]).absolute(), *arguments], check=True, cwd=folder)

    def _recorded(self, *arguments: str) -> Path:
        path = self._folder() / "out.etdp"
        finished = _run("PROFILED", f"--profile={path}", *arguments)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        return path

    def test_text(self) -> None:
        finished = _run("PROFILED", "--profile", "--iterations=3", "--warmup=1")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        head = re.search(
            r"^profile 3 timed runs, besides 1 first run and 1 warm-up run: "
            r"median ([0-9.]+) us, p10 ([0-9.]+), p90 ([0-9.]+)$",
            finished.stdout,
            re.MULTILINE,
        )
        assert head
        self.assertLessEqual(float(head[2]), float(head[1]))
        self.assertLessEqual(float(head[1]), float(head[3]))
        by_operator, by_node = finished.stdout[head.end() :].split("the runtime itself")
        operators = [(name, int(nodes)) for *_, nodes, name in _ROW.findall(by_operator)[:-1]]
        self.assertCountEqual(operators, [(name, _OPERATORS.count(name)) for name in set(_OPERATORS)])
        nodes = [(int(node), name, float(us)) for us, _, _, _, node, name in _ROW.findall(by_node)]
        self.assertEqual([name for _, name, _ in sorted(nodes)], _OPERATORS)
        times = [us for _, _, us in nodes]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertGreater(times[-1], 0)
        self.assertAlmostEqual(sum(times), sum(float(us) for us, *_ in _ROW.findall(by_operator)[:-1]), delta=1)
        for median, _, p10, p90, _, _ in _ROW.findall(by_node):
            self.assertLessEqual(float(p10), float(median))
            self.assertLessEqual(float(median), float(p90))

    def test_text_without_timed_runs(self) -> None:
        self.assertRegex(_run("PROFILED", "--profile").stdout, r"(?m)^profile 1 run: median [0-9.]+ us")

    def test_kinds_of_runs(self) -> None:
        runs = list(etdump.read(self._recorded("--iterations=3", "--warmup=2").read_bytes()))
        self.assertEqual([run.kind for run in runs], [Kind.FIRST, *[Kind.WARM_UP] * 2, *[Kind.TIMED] * 3])
        self.assertEqual({run.sample for run in runs}, {0})

    def test_file(self) -> None:
        path = self._recorded("--iterations=2", "--warmup=0")
        runs = list(etdump.read(path.read_bytes()))
        self._flatc(
            path.parent, "--json", "--strict-json", "--raw-binary", "--size-prefixed", "etdump.fbs", "--", "out.etdp"
        )
        blocks = [
            block
            for block in json.loads((path.parent / "out.json").read_text())["run_data"]
            if block["name"] == "Execute"
        ]
        self.assertEqual(len(runs), 3)
        self.assertEqual(len(blocks), 3)
        for run, block in zip(runs, blocks, strict=True):
            events = [event["profile_event"] for event in block["events"]]
            calls = [event for event in events if event["name"] == "OPERATOR_CALL"]
            self.assertEqual(
                [(event.instruction, event.start, event.end) for event in run.events],
                [(call["instruction_id"], call["start_time"], call["end_time"]) for call in calls],
            )
            kernels = [event["name"] for event in events if event["name"].startswith("native_call_")]
            self.assertEqual([f"native_call_{event.operator}" for event in run.events], kernels)
            (whole,) = [event for event in events if event["name"] == "Method::execute"]
            self.assertEqual((run.start, run.end), (whole["start_time"], whole["end_time"]))

    def test_backend(self) -> None:
        finished = _run("LOWERED_PROFILED", "--profile", "--iterations=3")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        by_operator, by_node = finished.stdout.split("the runtime itself")
        self.assertEqual(
            [(name, nodes) for *_, nodes, name in _ROW.findall(by_operator)[:-1]], [("XnnpackBackend", "1")]
        )
        rows = [(node, name.strip()) for *_, node, name in _ROW.findall(by_node)]
        self.assertEqual(rows[0], ("0", "XnnpackBackend"))
        # XNNPACK's own names of what it runs: two layers, and the softmax behind them.
        self.assertEqual([node for node, _ in rows[1:]], [""] * (len(rows) - 1))
        self.assertEqual(sum("Fully Connected" in name for _, name in rows), 2)
        self.assertIn("Softmax", rows[-1][1])

        page = self._folder() / "page.html"
        finished = _run("LOWERED_PROFILE", f"--page={page}")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        data = _data(page)
        (node,) = data["nodes"]
        self.assertEqual((node["operator"], node["taken"][1]["operator"]), ("XnnpackBackend", "aten::linear"))
        self.assertEqual(data["frames"][node["taken"][1]["stack"][-1]][0], "profiles/tests/model.py:14")
        self.assertEqual([data["tensors"][i] for i in node["inputs"]], ["Float [16, 64]"] * 2)
        parts = [name for name, *_ in data["views"][0]["nodes"][0]["parts"]]
        self.assertEqual(sum("Fully Connected" in name for name in parts), 2)

    def test_delegate(self) -> None:
        def event(**fields: Any) -> dict[str, Any]:
            return {"profile_event": fields}

        folder = self._folder()
        events = [
            event(name="", instruction_id=3, delegate_debug_id_int=0, start_time=110, end_time=120),
            event(name="", instruction_id=3, delegate_debug_id_str="Conv", start_time=120, end_time=150),
            event(name="DELEGATE_CALL", instruction_id=3, start_time=100, end_time=160),
            {"allocation_event": {"allocator_id": 0, "allocation_size": 4}},
            event(name="Method::execute", start_time=90, end_time=170),
        ]
        load = {"name": "Default", "events": [event(name="Method::init", start_time=1, end_time=2)]}
        content = {"version": 0, "run_data": [load, {"name": "Execute", "events": events}]}
        (folder / "in.json").write_text(json.dumps(content))
        for flags in ([], ["--size-prefixed"]):
            self._flatc(folder, "--binary", *flags, "etdump.fbs", "in.json")
            (run,) = list(etdump.read((folder / "in.etdp").read_bytes()))
            (call,) = run.events
            self.assertEqual((call.instruction, call.ns, run.ns), (3, 60, 80))
            self.assertEqual(call.parts, (Part("0", 110, 120), Part("Conv", 120, 150)))
            # A file that another runner made does not tell what a run is for.
            self.assertEqual((run.kind, run.sample), (Kind.FIRST, None))

    def test_samples(self) -> None:
        folder = self._folder()
        run = {"name": "Execute", "events": [{"profile_event": {"name": "Method::execute", "end_time": 5}}]}
        marked = [
            {"name": "FirstRuns"},
            *[run] * 3,
            {"name": "WarmUpRuns"},
            *[run] * 3,
            {"name": "TimedRuns"},
            *[run] * 6,
        ]
        (folder / "in.json").write_text(json.dumps({"version": 0, "run_data": marked}))
        self._flatc(folder, "--binary", "etdump.fbs", "in.json")
        runs = list(etdump.read((folder / "in.etdp").read_bytes()))
        self.assertEqual([run.sample for run in runs], [0, 1, 2] * 4)
        self.assertEqual([run.kind for run in runs], [*[Kind.FIRST] * 3, *[Kind.WARM_UP] * 3, *[Kind.TIMED] * 6])

    def test_damaged_file(self) -> None:
        content = self._recorded().read_bytes()
        refused = 0
        for size in range(0, len(content), 7):
            try:
                list(etdump.read(content[:size]))
            except etdump.NotAnEtdumpError:
                refused += 1
        self.assertGreater(refused, 0)
        numbers = random.Random(1)
        for _ in range(2000):
            damaged = bytearray(content)
            place = numbers.randrange(len(content))
            damaged[place : place + 8] = numbers.choice((b"\xff", b"\x7f", b"\0", bytes([numbers.randrange(256)]))) * 8
            with contextlib.suppress(etdump.NotAnEtdumpError):
                profile = profile_data.summarize(etdump.read(bytes(damaged)), {}, {})
                self.assertTrue(profile is None or page.render("damaged", profile))
        with self.assertRaises(etdump.NotAnEtdumpError):
            list(etdump.read(Path(os.environ["ORIGINS"]).read_bytes()))

    def test_calls(self) -> None:
        found = calls.read(Path(os.environ["SHAPES"]).read_bytes(), "forward")
        by_name = {call.name: (call.inputs, call.outputs) for call in found.values()}
        image = "Float [1, 2, 3, 4] in dim order [0, 2, 3, 1]"
        for name, inputs, outputs in (
            ("aten::topk.values", ["Float at most [8, 6]"], ["Float at most [8, 2]", "Long at most [8, 2]"]),
            (
                "aten::addmm.out",
                ["Float [5] constant", "Float at most [8, 6]", "Float [6, 5] constant"],
                ["Float at most [8, 5]"],
            ),
            (
                "aten::split_with_sizes_copy.out",
                ["Float at most [8, 5]"],
                ["Float at most [8, 2]", "Float at most [8, 3]"],
            ),
            ("aten::cat.out", ["Float at most [8, 3]", "Float at most [8, 2]"], ["Float at most [8, 5]"]),
        ):
            self.assertEqual(by_name[name], (tuple(inputs), tuple(outputs)), name)
        (taken, *_), given = by_name["aten::add.out"]
        self.assertEqual((taken, given), (image, (image,)))
        self.assertEqual(calls.read(Path(os.environ["SHAPES"]).read_bytes(), "decode"), {})

    def test_damaged_program(self) -> None:
        content = Path(os.environ["SHAPES"]).read_bytes()
        refused = 0
        for size in range(0, len(content), 13):
            try:
                calls.read(content[:size], "forward")
            except calls.NotAProgramError:
                refused += 1
        self.assertGreater(refused, 0)
        numbers = random.Random(1)
        for _ in range(2000):
            damaged = bytearray(content)
            damaged[numbers.randrange(len(content))] = numbers.randrange(256)
            with contextlib.suppress(calls.NotAProgramError):
                calls.read(bytes(damaged), "forward")

    def test_origins(self) -> None:
        origins = profile_data.origins(Path(os.environ["ORIGINS"]).read_text(), "forward")
        self.assertEqual([origin.operator for _, origin in sorted(origins.items())], _OPERATORS)
        code = _MODEL.read_text().splitlines()
        for origin in origins.values():
            for frame in origin.stack:
                self.assertEqual(frame.file, str(_MODEL))
                self.assertEqual(frame.code, code[frame.line - 1].strip())
        stacks = {number: [frame.code for frame in origin.stack] for number, origin in origins.items()}
        self.assertEqual(stacks[0], ["scaled = x * x"])
        self.assertEqual(stacks[1], ["hidden = self.first(scaled)", "return torch.relu(self.linear(x))"])
        self.assertEqual(stacks[5], ["return torch.softmax(self.second(hidden), dim=-1)"])
        self.assertEqual([origins[number].module for number in (1, 3, 4)], ["first.linear", "second.linear", "second"])

    def test_branches(self) -> None:
        path = self._folder() / "out.etdp"
        finished = _run("BRANCHES_PROFILED", f"--profile={path}")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        origins = profile_data.origins(Path(os.environ["BRANCHES_ORIGINS"]).read_text(), "forward")
        profile = profile_data.summarize(etdump.read(path.read_bytes()), origins, {})
        assert profile
        lines = {node.operator: [frame.code for frame in node.origin.stack] for node in profile.nodes if node.origin}
        self.assertEqual([node for node in profile.nodes if node.operator not in lines], [])
        chosen, rows = (
            "chosen = torch.cond(x.sum() > 0, doubled, turned, (x,))",
            "rows: torch.Tensor = for_each(row, chosen, y)",
        )
        for operator, expected in (
            ("aten::sum.IntList_out", [chosen]),
            ("aten::add.out", [chosen, "larger = values + values"]),
            ("aten::relu.out", [chosen, "return torch.relu(larger)"]),
            ("aten::mul.out", [rows, "both = values * other"]),
            ("aten::cos.out", [rows, "return both.cos()"]),
            # What ExecuTorch makes of the loop itself.
            ("aten::select_copy.int_out", [rows]),
            ("executorch_prim::et_copy_index.tensor", [rows]),
            ("aten::tanh.out", ["return rows.tanh()"]),
        ):
            self.assertEqual(lines[operator], expected, operator)
        # The other branch does not run.
        self.assertNotIn("aten::sin.out", lines)

    def test_page(self) -> None:
        folder = self._folder()
        finished = _run("PROFILE", "--iterations=2", BUILD_WORKING_DIRECTORY=str(folder))
        self.assertEqual(finished.returncode, 0, finished.stderr)
        page = document.read((folder / "plain.profile.html").read_text())
        self.assertEqual(page.all("h1")[0].text, "//profiles/tests:plain.profile")
        self.assertIn("2 timed runs of 1 sample; besides, 1 warm-up run and 1 first run", page.text)
        data = _data(folder / "plain.profile.html")
        self.assertEqual([node["operator"] for node in data["nodes"]], _OPERATORS)
        self.assertIn("scaled = x * x", [code for _, _, code in data["frames"]])
        self.assertEqual(data["views"][0]["total"][0], 2)
        softmax = data["nodes"][-1]
        self.assertEqual([data["tensors"][i] for i in softmax["inputs"] + softmax["outputs"]], ["Float [16, 64]"] * 2)

    def test_page_with_numbers_of_threads(self) -> None:
        folder = self._folder()
        finished = _run("PROFILE", "--threads=1,2", "--iterations=2", BUILD_WORKING_DIRECTORY=str(folder))
        self.assertEqual(finished.returncode, 0, finished.stderr)
        data = _data(folder / "plain.profile.html")
        self.assertEqual([node["operator"] for node in data["nodes"]], _OPERATORS)
        self.assertEqual([view["threads"] for view in data["views"]], [1, 2])
        for view in data["views"]:
            self.assertEqual([node["times"][0] for node in view["nodes"]], [2] * len(_OPERATORS))

    def test_page_of_a_file(self) -> None:
        path = self._recorded()
        page = self._folder() / "page.html"
        finished = _run("PROFILE", f"--etdump={path}", f"--page={page}")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertEqual(finished.stdout, f"page {page}\n")
        self.assertEqual(len(_data(page)["nodes"]), len(_OPERATORS))

    def test_page_of_another_program(self) -> None:
        # What the export wrote of the program of the build is not of another program.
        folder = self._folder()
        shutil.copy(os.environ["MODEL"], folder / "copy.pte")
        page = folder / "page.html"
        finished = _run("PROFILE", "--program=copy.pte", f"--page={page}", BUILD_WORKING_DIRECTORY=str(folder))
        self.assertEqual(finished.returncode, 0, finished.stderr)
        data = _data(page)
        self.assertEqual([node["operator"] for node in data["nodes"]], _OPERATORS)
        self.assertEqual(data["frames"], [])

    def test_trace(self) -> None:
        folder = self._folder()
        path = self._recorded("--iterations=2")
        finished = _run("PROFILE", f"--etdump={path}", "--trace=out.json", BUILD_WORKING_DIRECTORY=str(folder))
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn(f"trace {folder}/out.json\n", finished.stdout)
        events = json.loads((folder / "out.json").read_text())["traceEvents"]
        names = [event["name"] for event in events if event.get("cat") == "node"]
        self.assertEqual(names, _OPERATORS * 4)
        runs = [event["name"] for event in events if event.get("cat") == "run"]
        self.assertEqual(runs, ["first run 0", "warm-up run 0", "timed run 0", "timed run 1"])

    def test_started_without_bazel(self) -> None:
        # As bazel-bin has it: the launcher, and its runfiles beside it.
        profile = Path(os.environ["PROFILE"])
        self.assertEqual(profile.name, "plain.profile")
        self.assertEqual(profile.read_bytes()[:2], b"#!")
        runfiles = Path(os.environ["TEST_SRCDIR"])
        folder = self._folder()
        (folder / "bin").mkdir()
        shutil.copy(profile, folder / "bin" / profile.name)
        (folder / "bin" / f"{profile.name}.runfiles").symlink_to(runfiles)
        (folder / "link").symlink_to(folder / "bin" / profile.name)
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "TEST_TMPDIR") if name in os.environ}
        for command in (["bin/plain.profile"], [f"{folder}/bin/plain.profile"], ["./link"]):
            (folder / "plain.profile.html").unlink(missing_ok=True)
            finished = subprocess.run(command, capture_output=True, check=False, cwd=folder, env=environment, text=True)
            self.assertEqual(finished.returncode, 0, finished.stderr)
            self.assertEqual(len(_data(folder / "plain.profile.html")["nodes"]), len(_OPERATORS))

    def test_mistakes(self) -> None:
        nowhere = self._folder() / "no" / "where"
        etdp = self._recorded()
        for binary, arguments, found in (
            ("PROFILED", ["--profile", "--profile"], "flag --profile is given twice"),
            ("PROFILED", ["--profile="], "flag --profile= needs a file"),
            ("PROFILED", [f"--profile={nowhere}"], f"cannot write the profile {nowhere}"),
            ("PLAIN", ["--profile"], "there is no flag --profile"),
            ("PROFILE", ["--iterations=x"], "is no whole number"),
            ("PROFILE", ["--threads=1,x"], "is no whole number"),
            ("PROFILE", [f"--etdump={nowhere}"], f"cannot read {nowhere}: No such file"),
            ("PROFILE", [f"--etdump={_MODEL.absolute()}"], "is no ETDump"),
            ("PROFILE", [f"--page={nowhere}"], f"cannot write the page {nowhere}: No such file"),
            ("PROFILE", [f"--trace={nowhere}"], f"cannot write the trace {nowhere}: No such file"),
            ("PROFILE", [f"--program={_MODEL.absolute()}"], "is not an ExecuTorch program"),
            ("PROFILE", [f"--etdump={etdp}", f"--program={_MODEL.absolute()}"], "is no program"),
            ("PROFILE", [f"--etdump={etdp}", f"--program={nowhere}"], f"cannot read {nowhere}"),
        ):
            with self.subTest(found):
                finished = _run(binary, *arguments, BUILD_WORKING_DIRECTORY=str(self._folder()))
                self.assertEqual(finished.returncode, 1)
                self.assertIn(found, finished.stderr)
                self.assertNotIn("Traceback", finished.stderr)

    def test_cost(self) -> None:
        plain, profiled = (Path(os.environ[name]).read_bytes() for name in ("PLAIN", "PROFILED"))
        for trace in (b"libexecutorch_etdump.so", b"--profile"):
            self.assertNotIn(trace, plain)
            self.assertIn(trace, profiled)


if __name__ == "__main__":
    absltest.main()
