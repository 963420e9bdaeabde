from __future__ import annotations

from collections.abc import Sequence

from absl.testing import absltest

from tools.bench.peers import goals
from tools.bench.peers.goals import Goal
from tools.bench.peers.results import Cell, Cost


def _cell(one: float, two: float | None = None) -> Cell:
    return Cell(seconds={1: (one,)} | ({2: (two,)} if two else {}))


_RESULTS = {
    "small": {
        "ours": _cell(0.010, 0.009),
        "eager": _cell(0.020),
        "fast": _cell(0.005),
    },
    "large": {"ours": _cell(0.100, 0.050), "eager": _cell(0.090), "fast": _cell(0.200)},
    "lost": {"ours": Cell(missing="no"), "eager": _cell(1.0)},
}


class GoalsTest(absltest.TestCase):
    def goals(self, peers: Sequence[str] = ("eager", "fast"), instruction_set: str = "avx2") -> dict[str, Goal]:
        return {goal.name: goal for goal in goals.of_models(_RESULTS, "ours", peers, instruction_set)}

    def test_ratio_is_to_the_fastest(self) -> None:
        found = goals.ratios(_RESULTS, "ours", ["eager", "fast"], 1)
        self.assertEqual(found.keys(), {"small", "large"})
        self.assertAlmostEqual(found["small"], 0.5)
        self.assertAlmostEqual(found["large"], 0.9)

    def test_geometric_mean_and_worst_model(self) -> None:
        mean = self.goals()["The best peer / ours, one thread: geometric mean"]
        self.assertAlmostEqual(mean.value or 0, (0.5 * 0.9) ** 0.5)
        self.assertFalse(mean.met)
        every = self.goals()["The best peer / ours, one thread: every model"]
        self.assertEqual(every.at, "small")
        eager = self.goals()["PyTorch eager / ours, one thread: every model"]
        self.assertEqual(eager.at, "large")
        self.assertAlmostEqual(eager.value or 0, 0.9)

    def test_goals_of_each_instruction_set(self) -> None:
        for instruction_set, mean, every in (("avx2", 1.0, 0.85), ("avx512", 1.05, 0.95), ("avx512_bf16", 1.05, 0.95)):
            found = self.goals(instruction_set=instruction_set)
            for threads in ("one thread", "two threads"):
                self.assertEqual(found[f"The best peer / ours, {threads}: geometric mean"].least, mean)
                self.assertEqual(found[f"The best peer / ours, {threads}: every model"].least, every)
                self.assertEqual(found[f"PyTorch eager / ours, {threads}: geometric mean"].least, 1.5)
                self.assertEqual(found[f"PyTorch eager / ours, {threads}: every model"].least, 1.0)

    def test_starts(self) -> None:
        def started(seconds: float) -> Cell:
            return Cell(Cost(seconds, 0, 0))

        found = {
            "quick": {"mapped": started(0.1), "eager": started(4.0), "fast": started(0.3)},
            "slow": {"mapped": started(0.2), "eager": started(0.3)},
            "older": {"eager": started(0.1)},
        }
        (goal,) = goals.of_starts(found, "mapped", ["eager", "fast"])
        self.assertIn("every of 2 models", goal.name)
        self.assertEqual((goal.at, goal.least, goal.met), ("slow", 2.0, False))
        self.assertAlmostEqual(goal.value or 0, 1.5)
        self.assertEqual(goals.of_starts(_RESULTS, "ours", ["eager"]), [])

    def test_no_goals_without_peers(self) -> None:
        self.assertEqual(
            list(self.goals(peers=[], instruction_set="baseline")),
            ["Ours, one thread / two threads: every model above 20 ms"],
        )
        self.assertNotIn("The best peer / ours, one thread: every model", self.goals(instruction_set="baseline"))

    def test_two_threads_count_for_long_models_only(self) -> None:
        goal = self.goals()["Ours, one thread / two threads: every model above 20 ms"]
        self.assertEqual(goal.at, "large")
        self.assertAlmostEqual(goal.value or 0, 2.0)
        self.assertTrue(goal.met)

    def test_without_two_threads_there_is_no_gain(self) -> None:
        found = goals.of_models({"large": {"ours": _cell(0.1)}}, "ours", [], "avx2")
        self.assertEqual(found[-1].value, 1.0)
        self.assertFalse(found[-1].met)

    def test_text(self) -> None:
        self.assertEqual(
            Goal("Speed", 1.0, 0.75, "bert").text(), "Speed, at least 1.00: **missed by 25%**, 0.75 (`bert`)"
        )
        self.assertEqual(Goal("Speed", 1.0, 1.25, waits_for="x").text(), "Speed, at least 1.00: met, 1.25")
        self.assertEqual(
            Goal("Speed", 1.0, 0.75, waits_for="memory").text(),
            "Speed, at least 1.00: **missed by 25%**, 0.75: memory",
        )
        self.assertEqual(Goal("Share", 0.75, 0.8, percent=True).text(), "Share, at least 75%: met, 80%")
        self.assertEqual(Goal("Speed", 1.0, None).text(), "Speed, at least 1.00: not measured")
        self.assertFalse(Goal("Speed", 1.0, None).met)

    def test_operators(self) -> None:
        (goal,) = goals.of_operators({"mm": 0.6}, {"mm": 0.75}, {"mm": "mm 512"})
        self.assertEqual(goal.text(), "mm 512: share of the machine's peak, at least 75%: **missed by 20%**, 60%")


if __name__ == "__main__":
    absltest.main()
