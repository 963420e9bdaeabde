"""A binary with kernels for several instruction sets runs those that the processor has, and no code of the others."""

import os
import subprocess

from absl.testing import absltest

from kernels.testing import processor

_PROGRAM = os.environ["PROGRAM"]
_PROGRAMS_OF_AVX2 = os.environ["PROGRAMS_OF_AVX2"].split()
_QEMU = os.environ["QEMU"]
_LEVELS = {name: level for level, name in enumerate(reversed(processor.FLAGS))}


def _widest_here() -> int:
    return _LEVELS[processor.instruction_sets()[0]]


def _run(
    instruction_set: str = "", emulator: tuple[str, ...] = (), program: str = _PROGRAM
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "EXECUTORCH_INSTRUCTION_SET": instruction_set}
    return subprocess.run([*emulator, program], env=environment, capture_output=True, text=True)


class InstructionSetsTest(absltest.TestCase):
    def _assert_runs(self, level: int, done: subprocess.CompletedProcess[str]) -> None:
        # The kernel, an inline function that all sets share, another file; calls; the function in the binary itself.
        # The typed function calls the same kernel, which counts on.
        self.assertEqual(done.stdout, f"{level} {level} {level} 2 0\n{level} {level} {level} 3\n", done.stderr)

    def test_the_widest_that_the_processor_has(self) -> None:
        self._assert_runs(_widest_here(), _run())

    def test_each_that_the_environment_names(self) -> None:
        for name, level in _LEVELS.items():
            with self.subTest(name):
                self._assert_runs(min(level, _widest_here()), _run(name))

    def test_a_processor_without_any_of_them(self) -> None:
        self._assert_runs(0, _run(emulator=(_QEMU, "-cpu", "qemu64")))

    def test_a_processor_with_the_first_alone(self) -> None:
        self._assert_runs(1, _run(emulator=(_QEMU, "-cpu", "Haswell")))

    def test_programs_for_one_set_alone(self) -> None:
        # Whether they register their kernels or call them.
        for program in _PROGRAMS_OF_AVX2:
            with self.subTest(program):
                with_it = _run(program=program, emulator=(_QEMU, "-cpu", "Haswell"))
                self.assertEqual(with_it.stdout[:1], "1", with_it.stderr)
                without_it = _run(program=program, emulator=(_QEMU, "-cpu", "qemu64"))
                self.assertNotEqual(without_it.returncode, 0)
                self.assertEqual(without_it.stdout, "")
                self.assertIn("the kernels of this program are compiled for avx2, which", without_it.stderr)
                self.assertIn("=baseline at most.", without_it.stderr)

    def test_a_name_that_is_none(self) -> None:
        done = _run("avx")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(
            'EXECUTORCH_INSTRUCTION_SET is "avx": set it to baseline, avx2, avx512 or avx512_bf16, or unset it',
            done.stderr,
        )


if __name__ == "__main__":
    absltest.main()
