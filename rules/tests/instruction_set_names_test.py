"""The runtime and the tests name the instruction sets of rules/private/actions/instruction_sets.bzl, in its order."""

from __future__ import annotations

import re
from pathlib import Path

from absl import flags
from absl.testing import absltest

from codegen.cpp import typed_kernels
from kernels.testing import processor

_X86_64 = flags.DEFINE_list("x86_64", [], "The instruction sets for x86-64, from the narrowest on.")
_ARM64 = flags.DEFINE_list("arm64", [], "The instruction sets for arm64, from the narrowest on.")
_SOURCE = Path("runtime/kernel_api/instruction_set.cpp")
_HEADER = Path("runtime/kernel_api/instruction_set.h")


class InstructionSetNamesTest(absltest.TestCase):
    def test_names_in_the_runtime(self) -> None:
        source = _SOURCE.read_text()
        names = [re.findall(r'"(\w+)"', listed) for listed in re.findall(r"kNames\[\] = \{(.*)\};", source)]
        self.assertEqual(names, [_ARM64.value, _X86_64.value])
        texts = re.findall(r'#define NAMES_AS_TEXT "(.*)"', source)
        self.assertEqual([re.split(", | or ", text) for text in texts], [_ARM64.value, _X86_64.value])

    def test_enumerators(self) -> None:
        enumerators = re.findall(r"^  (k\w+),", _HEADER.read_text(), re.MULTILINE)
        names = [*_ARM64.value, *_X86_64.value[1:]]
        self.assertEqual(
            [f"InstructionSet::{each}" for each in enumerators], list(map(typed_kernels.enumerator, names))
        )

    def test_names_of_the_processor(self) -> None:
        self.assertEqual([*reversed(processor.FLAGS)], _X86_64.value)


if __name__ == "__main__":
    absltest.main()
