from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.bench.peers import results
from tools.bench.peers.results import Cell, Cost, Peak, Row, Run


class ResultsTest(absltest.TestCase):
    def test_median_of_turns(self) -> None:
        cell = Cell().with_turn(1, 3.0).with_turn(1, 1.0).with_turn(2, 9.0).with_turn(1, 2.0)
        self.assertEqual(cell.median(1), 2.0)
        self.assertEqual(cell.median(2), 9.0)
        self.assertIsNone(cell.median(4))

    def test_file(self) -> None:
        file = Path(self.create_tempdir().full_path) / "rows.json"
        self.assertEqual(results.load(file), {})
        run = Run("0123456789ab", "2026-11-30", "a processor", 2, "baseline,avx2")
        peak = Peak(98.5, ((4, 20.5), (32, 10.0)))
        cost = Cost(0.5, 10, 20)
        turns = {"ours": Cell(cost, {1: (0.123456, 0.2, 0.1), 2: (0.3,)}), "eager": Cell(missing="why")}
        rounded = {**turns, "ours": Cell(cost, {1: (0.1235, 0.2, 0.1), 2: (0.3,)})}
        results.save({"bert": Row(run, peak, turns), "a": Row(run, peak, {})}, file)
        self.assertEqual(results.load(file), {"a": Row(run, peak, {}), "bert": Row(run, peak, rounded)})
        self.assertEqual([path.name for path in file.parent.iterdir()], ["rows.json"])
        # A row a line, so that a change of the file shows the rows that were measured again.
        self.assertEqual(len(file.read_text().splitlines()), 4)

    def test_copy_of_the_same_size(self) -> None:
        peak = Peak(100, ((32, 50), (96, 20), (512, 10)))
        self.assertEqual([peak.copy_of(gigabytes) for gigabytes in (0.001, 0.1, 9.0)], [50, 20, 10])


if __name__ == "__main__":
    absltest.main()
