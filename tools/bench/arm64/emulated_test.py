"""Instructions of emulated programs are counted one by one."""

from pathlib import Path

from absl import flags
from absl.testing import absltest

from tools.bench.arm64 import emulated

_LOOP = flags.DEFINE_string("loop", None, "loop.cpp, for arm64.", required=True)


class EmulatedTest(absltest.TestCase):
    def test_a_loop_of_three_instructions(self) -> None:
        loop = Path(_LOOP.value)
        for processor in ("cortex-a53", "max"):
            # Numbers with as many digits take as many instructions to read.
            fewer, more = (emulated.instructions(processor, [loop, str(count)]) for count in (2000, 9000))
            self.assertEqual(more - fewer, 3 * 7000)

    def test_blocks_that_are_translated_again(self) -> None:
        log = b"""IN: main
0x0000000000400580:  d503201f  nop
0x0000000000400584:  d503201f  nop
0x0000000000400588:  54ffffc1  b.ne     #0x400580

Trace 0: 0x7f10d4000100 [0000000000000000/0000000000400580/00000001/00000200] main
Trace 0: 0x7f10d4000100 [0000000000000000/0000000000400580/00000001/00000200] main
IN: main
0x0000000000400580:  d503201f  nop

Trace 0: 0x7f10d4000300 [0000000000000000/0000000000400580/00000001/00000201] main
"""
        self.assertEqual(emulated.executed(log.splitlines()), 3 + 3 + 1)

    def test_a_program_that_fails(self) -> None:
        with self.assertRaisesRegex(emulated.EmulationError, "loop on cortex-a53: exit code 1"):
            emulated.instructions("cortex-a53", [Path(_LOOP.value), "0"])


if __name__ == "__main__":
    absltest.main()
