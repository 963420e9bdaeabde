from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.bench.peers.one_run import OtherRunError, one_run


class OneRunTest(absltest.TestCase):
    def test_a_second_run(self) -> None:
        state = Path(self.create_tempdir().full_path)
        refused = self.assertRaisesRegex(OtherRunError, f"another run of peers_bench uses {state}")
        with one_run(state), refused, one_run(state):
            pass
        with one_run(state):
            pass


if __name__ == "__main__":
    absltest.main()
