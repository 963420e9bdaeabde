from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.bench.peers import results
from tools.bench.peers.results import Cell, Cost


class ResultsTest(absltest.TestCase):
    def test_median_of_turns(self) -> None:
        cell = Cell().with_turn(1, 3.0).with_turn(1, 1.0).with_turn(2, 9.0).with_turn(1, 2.0)
        self.assertEqual(cell.median(1), 2.0)
        self.assertEqual(cell.median(2), 9.0)
        self.assertIsNone(cell.median(4))

    def test_file(self) -> None:
        file = Path(self.create_tempdir().full_path) / "results.json"
        self.assertEqual(results.load(file), {})
        found = {"bert": {"ours": Cell(Cost(0.5, 10, 20), {1: (0.1, 0.2), 2: (0.3,)}), "eager": Cell(missing="why")}}
        results.save(found, file)
        self.assertEqual(results.load(file), found)
        self.assertEqual([path.name for path in file.parent.iterdir()], ["results.json"])


if __name__ == "__main__":
    absltest.main()
