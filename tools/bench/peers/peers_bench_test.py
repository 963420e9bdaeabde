"""One tiny model from end to end, without the packages of the peers."""

from __future__ import annotations

import dataclasses
import importlib
import re
import shutil
import subprocess
import time
from pathlib import Path
from unittest import mock

import torch
from absl import flags
from absl.testing import absltest, flagsaver
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

from tools.bench.peers import contestants, instruction_set, peers_bench, results
from tools.bench.peers.instruction_set import InstructionSet
from tools.bench.peers.masked import masked
from tools.bench.peers.results import Peak, Row, Run

_NAME = "op_linear"
_RUN = Run("0123456789ab", "2026-11-30", "a processor", 2, "avx2")
_PEAK = Peak(100, ((32, 10),))


class PeersBenchTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.enter_context(
            flagsaver.flagsaver(
                (peers_bench._COLUMNS, "^(ours|ours_mapped|eager|onnxruntime|xnnpack)$"),
                (peers_bench._MINUTES, 0),
                (peers_bench._TURN, 0.01),
                (peers_bench._CPUS, flags.FLAGS.cpus[:1]),
            )
        )
        self.bench = self._bench(instruction_set.choose("", peers_bench._built()))

    def _bench(self, chosen: InstructionSet) -> peers_bench.Bench:
        docs = Path(self.create_tempdir().full_path)
        bench = peers_bench.Bench(peers_bench.HERE, Path(self.create_tempdir().full_path), docs, chosen)
        self.models = dict(bench.models)
        # As a model, which all columns have.
        bench.models[_NAME] = {key: value for key, value in self.models[_NAME].items() if key != "work"}
        return bench

    def test_a_model(self) -> None:
        found = peers_bench.measure_all(self.bench, [_NAME], _RUN, _PEAK)
        row = found[_NAME].cells
        self.assertEqual(row["onnxruntime"].missing, "onnxruntime is not installed")
        self.assertEqual(row["xnnpack"].missing, "not built")
        for column in ("ours", "eager"):
            cell = row[column]
            assert cell.cost is not None
            median = cell.median(1)
            assert median is not None
            self.assertEqual(cell.missing, "")
            # 37.7 MFLOP: no machine takes less than 10 us, or more than a second.
            self.assertTrue(1e-5 < median < 1, median)
            self.assertGreater(cell.cost.start, median / 2)
        ours, mapped, eager = row["ours"].cost, row["ours_mapped"].cost, row["eager"].cost
        assert ours is not None and mapped is not None and eager is not None
        self.assertLess(mapped.start, 1)
        self.assertTrue(100e3 < ours.code < 5e6, ours.code)
        self.assertGreater(eager.code, 50e6)
        self.assertLess(ours.peak, eager.peak)
        text, judged = peers_bench.section(self.bench, found)
        name = self.bench.instruction_set.name
        self.assertIn(f"`tools/bazel run //tools/bench:peers_bench -- --set={name}`", text)
        run = "- 2026-11-30, commit `0123456789ab`, 2 processors (a processor), kernels for avx2"
        self.assertIn(f"\n{run}: linear 32x384x1536. The peak", text)
        self.assertRegex(text, rf"^## Comparison with peers, {name}\n")
        self.assertIn(f"instruction set `{name}`", text)
        self.assertIn(f"](peers_{name}.svg)", text)
        self.assertRegex(text, r"(?s)### Load and first inference, ms\n\n\| model \| ours \| ours, `--load=mmap` \|")
        times, two_threads = text.split("### One thread, ms")[1].split("### Two threads, ms")
        self.assertRegex(times, r"(?m)^\| linear 32x384x1536 \| \**[0-9.]+\** \| \**[0-9.]+\** \|")
        self.assertIn("\n| linear 32x384x1536 | - |", two_threads)
        self.assertIn("- XNNPACK, everything: not built", text)
        self.assertIn("PyTorch eager / ours, one thread: geometric mean", [goal.name for goal in judged])

    def test_files_are_read_before_the_first_inference(self) -> None:
        with mock.patch.object(peers_bench, "_read") as read:
            peers_bench.measure_all(self.bench, [_NAME], _RUN, _PEAK)
        (files,) = read.call_args.args
        names = {file.name for file in files}
        self.assertLessEqual({f"ours_{_NAME}", f"{_NAME}.pte", f"{_NAME}.ptd", "module.pt", "samples.npz"}, names)
        peers_bench._read(files)

    def test_columns(self) -> None:
        self.enter_context(flagsaver.flagsaver((peers_bench._COLUMNS, "")))
        columns = [*self.bench.starting]
        self.assertLessEqual({"llama_cpp", "ours_mapped"}, {*columns})
        self.assertEqual(self.bench.columns_of("llama_token_4bit"), columns)
        columns.remove("llama_cpp")
        self.assertEqual(self.bench.columns_of("llama_token"), columns)
        self.assertEqual(self.bench.columns_of("op_mm"), ["ours", "eager"])

    def _measure(self, run: Run, columns: str = "", resume: bool = False) -> dict[str, Row]:
        """Measures the row, with a measurement that takes no time."""
        cells = {"ours": results.Cell(missing=run.commit)}
        with (
            flagsaver.flagsaver((peers_bench._COLUMNS, columns), (peers_bench._RESUME, resume)),
            mock.patch.object(peers_bench, "measure", return_value=cells),
        ):
            peers_bench.measure_all(self.bench, [_NAME], run, _PEAK)
        return results.load(self.bench.rows_file)

    def test_rows_are_kept(self) -> None:
        other = Row(_RUN, _PEAK, {"ours": results.Cell(missing="kept")})
        results.save({"bert": other, "a model of before": other}, self.bench.rows_file)
        newer = dataclasses.replace(_RUN, commit="newer", day="2026-12-01")
        rows = self._measure(newer)
        self.assertEqual(rows["bert"], other)
        self.assertEqual(rows[_NAME], Row(newer, _PEAK, {"ours": results.Cell(missing="newer")}))
        text, _ = peers_bench.section(self.bench, rows)
        newest, older = re.findall(r"(?m)^- (\S+), commit .*: (.*?)\. ", text)
        self.assertEqual(newest, ("2026-12-01", "linear 32x384x1536"))
        self.assertEqual(older, ("2026-11-30", "BERT-shaped encoder, 6x384, 32 tokens"))
        with self.subTest("resume"):
            again = dataclasses.replace(newer, day="2026-12-02")
            self.assertEqual(self._measure(again, resume=True)[_NAME].run, newer)
            self.assertEqual(self._measure(again)[_NAME].run, again)
        with self.subTest("not all columns"):
            self.assertEqual(self._measure(newer, columns="ours")[_NAME].run, again)

    def test_current_run(self) -> None:
        workspace = Path(self.create_tempdir().full_path)
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(workspace)]
        (workspace / "docs").mkdir()
        for file in ("kernel.h", "docs/page.md"):
            (workspace / file).write_text("before")
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "files"]):
            subprocess.run([*git, *arguments], check=True)
        run = peers_bench.current_run(workspace)
        self.assertRegex(run.commit, r"^[0-9a-f]{12}$")
        (workspace / "docs/page.md").write_text("after")
        self.assertEqual(peers_bench.current_run(workspace).commit, run.commit)
        (workspace / "kernel.h").write_text("after")
        self.assertEqual(peers_bench.current_run(workspace).commit, run.commit + "-dirty")
        with mock.patch.object(shutil, "which", return_value=None):
            self.assertEqual(peers_bench.current_run(workspace).commit, "unknown")
        outside = Path(self.create_tempdir().full_path)
        self.assertEqual(peers_bench.current_run(outside).commit, "unknown")

    def test_measured_peak(self) -> None:
        self.assertGreater(peers_bench.measured_peak(self.bench).gflops, 1)

    def test_caches_of_instruction_sets(self) -> None:
        self.assertNotEqual(self._bench(InstructionSet("avx", "avx512")).caches.name, self.bench.caches.name)

    def test_contestants_get_the_instruction_set(self) -> None:
        none = {"ATEN_CPU_CAPABILITY": "none", "EXECUTORCH_INSTRUCTION_SET": "none"}
        self.enter_context(mock.patch.object(InstructionSet, "environment", none))
        row = peers_bench.measure_all(self.bench, [_NAME], _RUN, _PEAK)[_NAME].cells
        self.assertIn('EXECUTORCH_INSTRUCTION_SET is "none"', row["ours"].missing)
        self.assertRegex(row["eager"].missing, r"PyTorch's kernels are those for \w+, not for none")

    def test_peers_that_nothing_holds_are_left_out(self) -> None:
        self.enter_context(flagsaver.flagsaver((peers_bench._COLUMNS, "")))
        bench = self._bench(InstructionSet("baseline", "avx512"))
        self.assertEqual(list(bench.columns), ["ours"])
        self.assertEqual(bench.columns_of(_NAME), ["ours", "ours_mapped"])
        text, _ = peers_bench.section(bench, {})
        self.assertRegex(text, r"cannot be limited to `baseline`:\n\n- PyTorch eager: ")
        header = next(line for line in text.splitlines() if line.startswith("| model |"))
        for title in ("PyTorch eager", "AOTInductor", "XNNPACK", "ONNX Runtime", "OpenVINO", "llama.cpp"):
            self.assertNotIn(title, header)
            self.assertIn(f"- {title}: ", text)

    def test_peers_with_a_limit(self) -> None:
        self.enter_context(flagsaver.flagsaver((peers_bench._COLUMNS, "")))
        bench = self._bench(InstructionSet("avx2", "avx512"))
        self.assertEqual(bench.peers.keys(), peers_bench._PEERS.keys() - {"aoti"})
        text, _ = peers_bench.section(bench, {})
        self.assertIn("instruction set `avx2`", text)
        self.assertIn("`ATEN_CPU_CAPABILITY=avx2`", text)
        self.assertIn(" XNNPACK, ONNX Runtime and OpenVINO have no such variable, and run as copies", text)
        self.assertIn(" llama.cpp is compiled for the set.", text)
        self.assertRegex(text, r"cannot be limited to `avx2`:\n\n- AOTInductor: .*\n\n### Operators")
        widest, _ = peers_bench.section(self._bench(InstructionSet("avx2", "avx2")), {})
        self.assertNotIn("limit", widest)

    def test_masked_peers_get_the_copies(self) -> None:
        copies = Path(self.create_tempdir().full_path)
        self.enter_context(mock.patch.object(masked, "copies", lambda packages, libraries, state: copies))
        for column in ("xnnpack", "openvino", "eager", "ours"):
            limited = self._bench(InstructionSet("avx2", "avx512")).contestant(column, _NAME, copies, 1)
            environment = vars(limited)["_environment"]
            self.assertEqual("LD_PRELOAD" in environment, column in ("xnnpack", "openvino"), column)
            if "LD_PRELOAD" in environment:
                self.assertTrue(Path(environment["LD_PRELOAD"]).exists())
                self.assertEqual(environment["LD_LIBRARY_PATH"].split(":")[0], str(copies))

    def test_sections_of_other_sets_stay(self) -> None:
        docs = Path(self.create_tempdir().full_path)
        for name, text in (("avx2", "old"), ("avx512", "kept"), ("avx2", "new")):
            bench = peers_bench.Bench(peers_bench.HERE, self.bench.state, docs, InstructionSet(name, "avx512"))
            rows = dict.fromkeys(bench.models, Row(_RUN, _PEAK, {}))
            peers_bench.write(bench, rows, text)
            rows.pop("bert")
            peers_bench.write(bench, rows, "The section of before stays until all rows are there.")
        page = (docs / "benchmarks.md").read_text()
        sections = re.findall(r"<!-- (\w+): begin -->\n\n(.*)\n\n<!-- (\w+): end -->", page)
        self.assertEqual(sections, [("peers_avx2", "new", "peers_avx2"), ("peers_avx512", "kept", "peers_avx512")])
        self.assertEqual({plot.name for plot in docs.glob("*.svg")}, {"peers_avx2.svg", "peers_avx512.svg"})

    def test_a_contestant_for_each_number_of_threads(self) -> None:
        self.bench.cpus = [0, 1]

        def contestant(column: str, name: str, prepared: Path, threads: int) -> contestants.Contestant:
            one = mock.Mock()
            one.start.return_value = contestants.Started(results.Cost(threads, 0, 0), 1e-3)
            one.turn.return_value = 8 / threads
            if column == "eager" and threads == 2:
                one.start.side_effect = contestants.UnavailableError("no second thread")
            return one

        self.enter_context(flagsaver.flagsaver((peers_bench._COLUMNS, "^(ours|eager)$")))
        self.enter_context(mock.patch.object(self.bench, "contestant", contestant))
        row = peers_bench.measure(self.bench, _NAME, 0, 0.01)
        cost = results.Cost(1, 0, 0)
        self.assertEqual(row["ours"], results.Cell(cost, {1: (8,), 2: (4,)}))
        self.assertEqual(row["eager"], results.Cell(cost, {1: (8,)}, "no second thread"))

    def test_the_fastest_start_counts(self) -> None:
        starts = {"ours": [3.0, 0.2, 0.4], "ours_mapped": [0.3, 0.1, 0.2], "eager": [6.0]}

        def contestant(column: str, name: str, prepared: Path, threads: int) -> contestants.Contestant:
            costs = [results.Cost(start, 0, 0) for start in starts[column]]
            return mock.Mock(
                start=mock.Mock(side_effect=[contestants.Started(cost, 1e-3) for cost in costs]),
                turn=mock.Mock(return_value=1e-3),
            )

        self.enter_context(flagsaver.flagsaver((peers_bench._COLUMNS, "^(ours|ours_mapped|eager)$")))
        self.enter_context(mock.patch.object(self.bench, "contestant", contestant))
        row = peers_bench.measure(self.bench, _NAME, 0, 0.01)
        self.assertEqual(
            {name: cell.cost and cell.cost.start for name, cell in row.items()},
            {"ours": 0.2, "ours_mapped": 0.1, "eager": 6.0},
        )
        self.assertEqual(row["ours_mapped"].seconds, {})

    def test_the_time_of_the_turns_begins_after_the_start(self) -> None:
        clock = mock.Mock(return_value=0.0)

        def pass_time(seconds: float) -> None:
            clock.return_value += seconds

        def start() -> contestants.Started:
            pass_time(100)
            return contestants.Started(results.Cost(1, 0, 0), 1e-3)

        def turn(seconds: float) -> float:
            pass_time(seconds)
            return seconds

        contestant = mock.Mock(start=start, turn=turn)
        self.enter_context(flagsaver.flagsaver((peers_bench._COLUMNS, "^ours$")))
        self.enter_context(mock.patch.object(self.bench, "contestant", return_value=contestant))
        self.enter_context(mock.patch.object(time, "monotonic", clock))
        row = peers_bench.measure(self.bench, _NAME, seconds=3, turn=1)
        self.assertEqual(row["ours"].seconds, {1: (1, 1, 1, 1)})

    def test_threads_and_processors_of_processes(self) -> None:
        self.bench.cpus = [3, 5]
        prepared = self.bench.prepared(_NAME)
        for column in ("ours", "eager"):
            with (
                mock.patch.object(subprocess, "Popen", side_effect=InterruptedError) as start,
                self.assertRaises(InterruptedError),
            ):
                self.bench.contestant(column, _NAME, prepared, 2).start()
            (command,), options = start.call_args
            self.assertEqual(command[:3], ["taskset", "-c", "3,5"])
            if column == "ours":
                self.assertIn("--threads=2", command)
            else:
                self.assertEqual((command[-1], options["env"]["OMP_NUM_THREADS"]), ("2", "2"))

    def test_wrong_outputs_are_not_timed(self) -> None:
        payload = FlatTensorSerializer().deserialize((self.bench.folder / f"{_NAME}.ptd").read_bytes())
        for key, entry in payload.named_data.items():
            if "/output/" in key:
                wrong = 2 * torch.frombuffer(bytearray(payload.buffers[entry.buffer_index]), dtype=torch.float32)
                payload.buffers[entry.buffer_index] = wrong.numpy().tobytes()
        samples = self.bench.state / "wrong.ptd"
        samples.write_bytes(bytes(FlatTensorSerializer().serialize(payload)))

        def contestant(column: str, name: str, prepared: Path, threads: int) -> contestants.Contestant:
            runner = self.bench.folder / f"{column}_{name}"
            flags_of = [f"--samples={samples}"]
            return contestants.Runner(runner, flags_of, self.bench.models[name], self.bench.cpus, {})

        self.enter_context(flagsaver.flagsaver((peers_bench._COLUMNS, "^ours$")))
        self.enter_context(mock.patch.object(self.bench, "contestant", contestant))
        row = peers_bench.measure(self.bench, _NAME, 0, 0.01)
        self.assertIn("DIFFERS", row["ours"].missing)
        self.assertEqual(row["ours"].seconds, {})

    def test_every_row_has_its_model(self) -> None:
        self.assertEqual(sum("work" not in model for model in self.models.values()), 24)
        for name, model in self.models.items():
            file = importlib.import_module(model["file"].removesuffix(".py").replace("/", "."))
            self.assertTrue(callable(getattr(file, model["entry_point"], None)), name)


if __name__ == "__main__":
    absltest.main()
