"""Tests of profiles of a program that runs, with ExecuTorch's own schema and flatc as the judge of what is recorded."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from absl.testing import absltest

from profiles import etdump, profile_data
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
_ROW = re.compile(r"^ *([0-9.]+) +([0-9.]+) +(\d*)  (\S.*)$", re.MULTILINE)


def _run(binary: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(os.environ[binary]).absolute(), *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
        text=True,
    )


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
            r"^profile (\d+) runs; of the run whose time is the median, ([0-9.]+) us:", finished.stdout, re.MULTILINE
        )
        assert head
        self.assertEqual(int(head[1]), 5)
        by_operator, by_node = finished.stdout[head.end() :].split("the runtime itself")
        operators = [(name, int(calls)) for _, _, calls, name in _ROW.findall(by_operator)]
        self.assertCountEqual(operators, [(name, _OPERATORS.count(name)) for name in set(_OPERATORS)])
        nodes = [(int(node), name, float(us)) for us, _, node, name in _ROW.findall(by_node)]
        self.assertEqual([name for _, name, _ in sorted(nodes)], _OPERATORS)
        times = [us for _, _, us in nodes]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertGreater(times[-1], 0)
        self.assertAlmostEqual(sum(times), sum(float(us) for us, *_ in _ROW.findall(by_operator)), delta=1)
        self.assertLess(sum(times), float(head[2]))

    def test_file(self) -> None:
        path = self._recorded("--iterations=2", "--warmup=0")
        runs = etdump.read(path.read_bytes())
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
        self.assertEqual([(name, calls) for _, _, calls, name in _ROW.findall(by_operator)], [("XnnpackBackend", "1")])
        rows = [(node, name.strip()) for _, _, node, name in _ROW.findall(by_node)]
        self.assertEqual(rows[0], ("0", "XnnpackBackend"))
        # XNNPACK's own names of what it runs: two layers, and the softmax behind them.
        self.assertEqual([node for node, _ in rows[1:]], [""] * (len(rows) - 1))
        self.assertEqual(sum("Fully Connected" in name for _, name in rows), 2)
        self.assertIn("Softmax", rows[-1][1])

        page = self._folder() / "page.html"
        finished = _run("LOWERED_PROFILE", f"--page={page}")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        (node,) = document.read(page.read_text()).all("details")
        for text in ("What the backend tells:", "Fully Connected", "aten::linear profiles/tests/model.py:14"):
            self.assertIn(text, node.text)

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
            (run,) = etdump.read((folder / "in.etdp").read_bytes())
            (call,) = run.events
            self.assertEqual((call.instruction, call.ns, run.ns), (3, 60, 80))
            self.assertEqual([(part.name, part.ns) for part in call.parts], [("0", 10), ("Conv", 30)])

    def test_damaged_file(self) -> None:
        content = self._recorded().read_bytes()
        refused = 0
        for size in range(0, len(content), 7):
            try:
                etdump.read(content[:size])
            except etdump.NotAnEtdumpError:
                refused += 1
        self.assertGreater(refused, 0)
        with self.assertRaises(etdump.NotAnEtdumpError):
            etdump.read(Path(os.environ["ORIGINS"]).read_bytes())

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
        profile = profile_data.summarize(etdump.read(path.read_bytes()), origins)
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
        self.assertIn("the median of 4 runs", page.text)
        self.assertEqual(len(page.all("details")), len(_OPERATORS))
        self.assertEqual(len(page.all("rect")), len(_OPERATORS))
        self.assertIn("scaled = x * x", page.text)

    def test_page_of_a_file(self) -> None:
        path = self._recorded()
        page = self._folder() / "page.html"
        finished = _run("PROFILE", f"--etdump={path}", f"--page={page}")
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertEqual(finished.stdout, f"page {page}\n")
        self.assertEqual(len(document.read(page.read_text()).all("details")), len(_OPERATORS))

    def test_mistakes(self) -> None:
        nowhere = self._folder() / "no" / "where"
        for binary, arguments, found in (
            ("PROFILED", ["--profile", "--profile"], "flag --profile is given twice"),
            ("PROFILED", ["--profile="], "flag --profile= needs a file"),
            ("PROFILED", [f"--profile={nowhere}"], f"cannot write the profile {nowhere}"),
            ("PLAIN", ["--profile"], "there is no flag --profile"),
            ("PROFILE", ["--iterations=x"], "is no whole number"),
            ("PROFILE", [f"--etdump={nowhere}"], f"cannot read {nowhere}: No such file"),
            ("PROFILE", [f"--etdump={_MODEL.absolute()}"], "is no ETDump"),
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
