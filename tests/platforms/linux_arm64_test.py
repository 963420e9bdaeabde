"""Programs built for arm64 on a machine of another kind compute what PyTorch does, on several processors."""

import itertools
import os
import re
import subprocess
from pathlib import Path

from absl.testing import absltest

from kernels.testing import arm64

_EMULATOR = arm64.Emulator(Path(os.environ["QEMU"]), Path(os.environ["LOADER"]))
_PROGRAM_TESTS = (
    "BFLOAT16_CONVOLUTIONS",
    "BFLOAT16_MLP",
    "CUSTOM_OPS",
    "MOBILENET_V2",
    "MOBILENET_V2_QUANTIZED",
    "OPTIMIZED_LAYERS",
    "QUICKSTART",
    "RESNET18_QUANTIZED",
    "XNNPACK",
)

# The instruction sets as levels, from the narrowest on, and the level of the widest set that a processor has.
_LEVELS = {name: level for level, name in enumerate(arm64.PROCESSORS)}
_PROCESSORS = {processor: _LEVELS[name] for name, processor in arm64.PROCESSORS.items()}


def _run(processor: str, program: str, *flags: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*_EMULATOR.command(processor), os.environ[program], *flags],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


class LinuxArm64Test(absltest.TestCase):
    def test_programs(self) -> None:
        for program, processor in itertools.product(_PROGRAM_TESTS, _PROCESSORS):
            with self.subTest(program=program, processor=processor):
                done = _run(processor, program)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("PASSED", done.stdout)

    def test_instruction_sets(self) -> None:
        for processor, widest in _PROCESSORS.items():
            for instruction_set, level in {**_LEVELS, "": widest}.items():
                with self.subTest(processor=processor, instruction_set=instruction_set):
                    done = _run(processor, "LEVELS", EXECUTORCH_INSTRUCTION_SET=instruction_set)
                    ran = min(level, widest)
                    # As rules/tests/instruction_sets has it.
                    self.assertEqual(done.stdout, f"{ran} {ran} {ran} 2 0\n{ran} {ran} {ran} 3\n", done.stderr)

    def test_the_guide(self) -> None:
        guide = Path("docs/platforms.md").read_text()
        commands = re.findall(r"^```sh\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
        # What BUILD.bazel builds as `guide`.
        self.assertEqual(
            commands, ["tools/bazel build --platforms=//third_party/cross:linux_arm64 //examples/custom_ops:runner\n"]
        )
        self.assertIn("PASSED: 1 samples", _run("max", "GUIDE", "--check").stdout)
        built = (
            Path("third_party/cross/BUILD.bazel").read_text()
            + Path("tests/platforms/bare_metal/BUILD.bazel").read_text()
        )
        targets = re.findall(r"^```starlark\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
        # //tests/downstream:platforms_test has the lines of MODULE.bazel.
        targets = [each for each in targets if not each.startswith(("bazel_dep(", "register_toolchains("))]
        self.assertEqual(len(targets), 2)
        for each in targets:
            self.assertIn(each, built)

    def test_an_instruction_set_of_another_processor(self) -> None:
        done = _run("max", "LEVELS", EXECUTORCH_INSTRUCTION_SET="avx2")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(
            'EXECUTORCH_INSTRUCTION_SET is "avx2": set it to baseline, dotprod or i8mm_bf16, or unset it', done.stderr
        )


if __name__ == "__main__":
    absltest.main()
