"""One tiny model from end to end, without the packages of the peers."""

from __future__ import annotations

import importlib
from pathlib import Path
from unittest import mock

import torch
from absl import flags
from absl.testing import absltest, flagsaver
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

from tools.bench.peers import contestants, peers_bench, results, tables

_NAME = "op_linear"


class PeersBenchTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.enter_context(
            flagsaver.flagsaver(
                (peers_bench._COLUMNS, "^(ours|eager|onnxruntime|xnnpack)$"),
                (peers_bench._MINUTES, 5),
                (peers_bench._TURN, 0.01),
                (peers_bench._CPUS, flags.FLAGS.cpus[:1]),
            )
        )
        self.bench = peers_bench.Bench(peers_bench.HERE, Path(self.create_tempdir().full_path))
        self.models = dict(self.bench.models)
        self.bench.models[_NAME] = {**self.models[_NAME]}
        del self.bench.models[_NAME]["work"]  # As a model, which all columns have.
        self.file = self.bench.state / "results.json"

    def test_a_model(self) -> None:
        found = peers_bench.measure_all(self.bench, [_NAME], self.file, end=0)
        row = found[_NAME]
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
        ours, eager = row["ours"].cost, row["eager"].cost
        assert ours is not None and eager is not None
        self.assertTrue(100e3 < ours.code < 5e6, ours.code)
        self.assertGreater(eager.code, 50e6)
        self.assertLess(ours.peak, eager.peak)
        self.assertEqual(results.load(self.file), found)
        text, judged = peers_bench.section(self.bench, found, tables.Peak(100, {32: 10}))
        sets = (peers_bench.HERE / "instruction_sets").read_text()
        kernels = "" if sets == "all" else f" --//rules:instruction_sets={sets}"
        self.assertIn(f"`tools/bazel run{kernels} //tools/bench:peers_bench -- --minutes=5`", text)
        times, two_threads = text.split("### One thread, ms")[1].split("### Two threads, ms")
        self.assertRegex(times, r"(?m)^\| linear 32x384x1536 \| \**[0-9.]+\** \| - \| \**[0-9.]+\** \|")
        self.assertIn("\n| linear 32x384x1536 | - |", two_threads)
        self.assertIn("- XNNPACK, everything: not built", text)
        self.assertIn("PyTorch eager / ours, one thread: geometric mean", [goal.name for goal in judged])

    def test_a_row_that_is_there_is_not_measured_again(self) -> None:
        before = {_NAME: {"ours": results.Cell(missing="kept")}}
        results.save(before, self.file)
        self.assertEqual(peers_bench.measure_all(self.bench, [_NAME], self.file, end=0), before)

    def test_wrong_outputs_are_not_timed(self) -> None:
        payload = FlatTensorSerializer().deserialize((self.bench.folder / f"{_NAME}.ptd").read_bytes())
        for key, entry in payload.named_data.items():
            if "/output/" in key:
                wrong = 2 * torch.frombuffer(bytearray(payload.buffers[entry.buffer_index]), dtype=torch.float32)
                payload.buffers[entry.buffer_index] = wrong.numpy().tobytes()
        samples = self.bench.state / "wrong.ptd"
        samples.write_bytes(bytes(FlatTensorSerializer().serialize(payload)))

        def contestant(column: str, name: str, prepared: Path) -> contestants.Contestant:
            runner = self.bench.folder / f"{column}_{name}"
            return contestants.Runner(runner, [f"--samples={samples}"], self.bench.models[name], self.bench.cpus)

        self.enter_context(flagsaver.flagsaver((peers_bench._COLUMNS, "^ours$")))
        self.enter_context(mock.patch.object(self.bench, "contestant", contestant))
        row = peers_bench.measure(self.bench, _NAME, 0, 0.01)
        self.assertIn("DIFFERS", row["ours"].missing)
        self.assertEqual(row["ours"].seconds, {})

    def test_every_row_has_its_model(self) -> None:
        self.assertEqual(sum("work" not in model for model in self.models.values()), 16)
        for name, model in self.models.items():
            file = importlib.import_module(model["file"].removesuffix(".py").replace("/", "."))
            self.assertTrue(callable(getattr(file, model["entry_point"], None)), name)


if __name__ == "__main__":
    absltest.main()
