from __future__ import annotations

import dataclasses
from xml.etree import ElementTree

from absl.testing import absltest

from tools.bench.peers import tables
from tools.bench.peers.results import Cell, Cost, Peak, Row, Run

_COLUMNS = {"ours": "ours", "eager": "PyTorch eager", "other": "Other"}
_PEERS = ["eager", "other"]
_RESULTS = {
    "bert": {
        "ours": Cell(Cost(0.012, 3_000_000, 250_000), {1: (0.004, 0.005, 0.003), 2: (0.002,)}),
        "eager": Cell(Cost(1.5, 400_000_000, 90_000_000), {1: (0.0105,)}),
        "other": Cell(missing="other is not installed"),
    },
}


class TablesTest(absltest.TestCase):
    def test_models(self) -> None:
        text = tables.models(_RESULTS, {"bert": "BERT", "vit": "ViT"}, _COLUMNS, "ours", _PEERS)
        self.assertEqual(
            [section.splitlines() for section in text.split("### ")[1:]],
            [
                [
                    "One thread, ms",
                    "",
                    "| model | ours | PyTorch eager | Other | best peer / ours |",
                    "|---|--:|--:|--:|--:|",
                    "| BERT | **4** | 10.5 | - | 2.62 |",
                    "",
                ],
                [
                    "Two threads, ms",
                    "",
                    "| model | ours | PyTorch eager | Other | best peer / ours |",
                    "|---|--:|--:|--:|--:|",
                    "| BERT | **2** | - | - | - |",
                ],
            ],
        )

    def test_costs(self) -> None:
        text = tables.costs(_RESULTS, {"bert": "BERT", "vit": "ViT"}, _COLUMNS)
        rows = [line for line in text.splitlines() if line.startswith("| BERT")]
        self.assertEqual(rows, ["| BERT | 12 | 1,500 | - |", "| BERT | 3 | 400 | - |", "| BERT | 250 | 90,000 | - |"])

    def test_the_best_peer_is_one_of_the_peers(self) -> None:
        row = {name: Cell(seconds={1: (time,)}) for name, time in (("ours", 2.0), ("eager", 8.0), ("other", 1.0))}
        text = tables.models({"bert": row}, {"bert": "BERT"}, _COLUMNS, "ours", ["eager"])
        self.assertIn("| BERT | 2,000 | 8,000 | **1,000** | 4.00 |", text)

    def test_spread(self) -> None:
        quiet, noisy, single = (
            Cell(seconds={1: (1.0, 1.0, 1.02)}),
            Cell(seconds={2: (2.0, 2.2, 1.0)}),
            Cell(seconds={1: (9,)}),
        )
        text = tables.spread({"bert": {"ours": quiet, "eager": noisy}, "vit": {"ours": single}})
        # The median differences are 0% and 10%.
        self.assertIn(
            "differ from the time by at most 5.0% in the median of all times, and by at most 10.0% in each", text
        )
        self.assertEqual(tables.spread({"vit": {"ours": single}}), "")

    def test_marks(self) -> None:
        row = {
            "ours": Cell(seconds={1: (0.02,), 2: (0.01,)}),
            "eager": Cell(seconds={1: (0.02,), 2: (0.017,)}),
            "other": Cell(seconds={1: (0.009,), 2: (0.009,)}),  # Too short for a mark.
        }
        text = tables.models({"bert": row}, {"bert": "BERT"}, _COLUMNS, "ours", _PEERS)
        self.assertEqual(
            [line for line in text.splitlines() if line.startswith("| BERT")][:2],
            ["| BERT | 20 | 20 | **9** | 0.45 |", "| BERT | 10 | 17 † | **9** | 0.90 |"],
        )
        titles = {"bert": "BERT", "vit": "ViT"}
        head = r"^†: two threads take more than 80% of .* 10 ms:\n\n"
        both = {"bert": row, "vit": row}
        self.assertRegex(
            tables.marks(both, titles, _COLUMNS, {("eager", ""): "it waits", ("eager", "vit"): "it copies"}),
            f"{head}- PyTorch eager, BERT: it waits\n- PyTorch eager, ViT: it copies$",
        )
        self.assertRegex(
            tables.marks(both, titles, _COLUMNS, {}), f"{head}- PyTorch eager, BERT; ViT: the reason is not known$"
        )
        self.assertEqual(tables.marks(_RESULTS, titles, _COLUMNS, {}), "")

    def test_share(self) -> None:
        peak = Peak(gflops=100, copies=((32, 50), (96, 20), (512, 10)))
        self.assertAlmostEqual(tables.share({"gflop": 0.5}, 0.01, peak), 0.5)
        self.assertAlmostEqual(tables.share({"gigabytes": 0.1}, 0.01, peak), 0.5)
        self.assertAlmostEqual(tables.share({"gigabytes": 0.03}, 0.01, peak), 0.06)

    def test_read_peak(self) -> None:
        printed = """baseline                     20.5 GFLOP/s
AVX-512                     160.5 GFLOP/s
AVX2 and FMA                 82.0 GFLOP/s
copy of    8 MB              50.0 GB/s read and written
read of    8 MB              70.0 GB/s
copy of   16 MB              40.0 GB/s read and written
"""
        for instruction_set, gflops in (("avx512_bf16", 160.5), ("avx512", 160.5), ("avx2", 82.0), ("baseline", 20.5)):
            self.assertEqual(tables.read_peak(printed, instruction_set), Peak(gflops, ((16, 50), (32, 40))))

    def test_operators(self) -> None:
        work = {"mm": {"gflop": 0.4, "goal": 0.75}, "add": {"gigabytes": 0.05, "goal": 0.8}}
        run = Run("0123456789ab", "2026-11-30", "a processor", 2, "avx2")
        found = {
            "mm": Row(run, Peak(100, ((32, 20),)), {"ours": Cell(seconds={1: (0.01,)}), "eager": Cell(missing="no")})
        }
        columns = {"ours": "ours", "eager": "PyTorch eager"}
        titles = {"mm": "mm 512", "add": "add"}
        self.assertEqual(
            tables.operators(found, titles, columns, work).splitlines()[2:],
            ["| mm 512 | 10 | - | 40% | - | 75% |"],
        )

    def test_runs(self) -> None:
        run = Run("0123456789ab", "2026-11-30", "a processor", 2, "baseline,avx2")
        newer = dataclasses.replace(run, commit="ba9876543210", day="2026-12-01")
        peak, other = Peak(100, ((32, 20.5), (64, 10.0))), Peak(98, ((32, 20.5), (64, 12.0)))
        rows = {"mm": Row(run, other, {}), "vit": Row(newer, peak, {}), "bert": Row(run, peak, {})}
        self.assertEqual(
            tables.runs(rows, {"bert": "BERT", "vit": "ViT", "mm": "mm 512"}).splitlines(),
            [
                "- 2026-12-01, commit `ba9876543210`, 2 processors (a processor), kernels for baseline, avx2: ViT. The"
                " peak of float32 is 100.0 GFLOP/s, of copies 20.5 GB/s for 32 MB, 10.0 GB/s for 64 MB.",
                "- 2026-11-30, commit `0123456789ab`, 2 processors (a processor), kernels for baseline, avx2: BERT; mm"
                " 512. The peak of float32 is 98.0 to 100.0 GFLOP/s, of copies 20.5 GB/s for 32 MB, 10.0 to 12.0 GB/s"
                " for 64 MB.",
            ],
        )
        self.assertIn(": all rows. The peak", tables.runs(rows, {"vit": "ViT"}))

    def test_notes(self) -> None:
        self.assertEqual(
            tables.notes(_RESULTS, {"bert": "BERT"}, _COLUMNS), "- Other, everything: other is not installed"
        )

    def test_plot(self) -> None:
        root = ElementTree.fromstring(tables.plot(_RESULTS, {"bert": "BERT"}, _COLUMNS, "ours", _PEERS))
        marks = [path for path in root.iter("{http://www.w3.org/2000/svg}path") if len(path)]
        self.assertLen(marks, 4)  # Two of the legend, two of the model.

    def test_what_the_plot_shows(self) -> None:
        results = {
            "a": {"ours": Cell(seconds={1: (2,)}), "eager": Cell(seconds={1: (8,)}), "other": Cell(seconds={1: (4,)})},
            "b": {"ours": Cell(seconds={1: (2,)}), "eager": Cell(seconds={1: (2,)}), "other": Cell(seconds={1: (1,)})},
        }
        self.assertEqual(
            tables.shows(results, {"a": "A", "b": "B"}, _COLUMNS, "ours", _PEERS),
            "Speed on one thread, by model: ours is the fastest in 1 of 2 models, not in B (0.50); in geometric mean"
            " the best peer takes 1.00 of its time, PyTorch eager 2.00.",
        )


if __name__ == "__main__":
    absltest.main()
