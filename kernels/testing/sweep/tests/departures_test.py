"""Tests that the example of each departure differs from PyTorch."""

import mmap

from absl.testing import absltest, parameterized

from kernels.testing.sweep import departures
from kernels.testing.sweep.trial import Outcome, Trial, Verdict


class DeparturesTest(parameterized.TestCase):
    @parameterized.named_parameters((departure.name, departure) for departure in departures.DEPARTURES)
    def test_example(self, departure: departures.Departure) -> None:
        call = departure.example()
        verdict = Trial(call.operator, mmap.mmap(-1, mmap.PAGESIZE)).judge(0, call)
        if departure.depends_on_processor and verdict.outcome is Outcome.EQUAL:
            return
        self.assertEqual(verdict.outcome, departure.outcome, verdict.reason)
        self.assertIs(departures.find(call, verdict), departure)

    def test_other_outcomes_are_not_excused(self) -> None:
        for departure in departures.DEPARTURES:
            self.assertIsNone(departures.find(departure.example(), Verdict(Outcome.NO_CALL)))


if __name__ == "__main__":
    absltest.main()
