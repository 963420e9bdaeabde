from __future__ import annotations

import sys
from pathlib import Path

from absl.testing import absltest

from tools.bench import elf


class ElfTest(absltest.TestCase):
    def test_compiler(self) -> None:
        for comment, expected in {
            b"\0GCC: (Debian 12.2.0-14+deb12u1) 12.2.0\0": "GCC 12.2.0",
            b"\0Debian clang version 19.1.7 (3+b1)\0": "Clang 19.1.7",
            b"\0": "unknown compiler",
        }.items():
            file = Path(self.create_tempfile().full_path)
            file.write_bytes(b"\x7fELF\x02\x01" + comment)
            self.assertEqual(expected, elf.compiler(file))

    def test_loaded_bytes(self) -> None:
        self.assertGreater(elf.loaded_bytes(Path(sys.executable).resolve()), 1000)
        with self.assertRaisesRegex(ValueError, "is no 64-bit little-endian ELF file"):
            elf.loaded_bytes(Path(self.create_tempfile(content="#!/bin/sh").full_path))

    def test_file_offset(self) -> None:
        program = Path(sys.executable).resolve().read_bytes()
        # The header of the file is at the start of the first segment.
        self.assertEqual(elf.file_offset(program, elf._loaded(program)[0].address + 24), 24)
        with self.assertRaisesRegex(ValueError, "^no segment has the address 0xffffffffffffffff$"):
            elf.file_offset(program, 2**64 - 1)


if __name__ == "__main__":
    absltest.main()
