"""Tests of the references of a binary, on listings of objdump."""

from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from codegen.binaries import references

_X86_64 = """
app:     file format elf64-x86-64

0000000000001126 <_Z1fv>:
    1126:\tendbr64
    112a:\tcall   1136 <_Z1gv>
    112f:\tlea    0x2eca(%rip),%rax        # 4000 <_ZTV1A+0x10>
    1136:\tjne    1126 <_Z1fv>
    1138:\tmov    $0x10,%eax
"""
_ARM64 = """
0000000000000714 <_Z1fv>:
     714:\tbl\t6c0 <_Z1gv>
     718:\tadrp\tx0, 11000 <__data_start>
     71c:\tadd\tx0, x0, #0xd98
     720:\tldr\tx1, [x0, #16]
     724:\tldr\tx1, [x2, #16]
     728:\tb.ne\t714 <_Z1fv>  // b.any
"""


class ReferencesTest(absltest.TestCase):
    def _read(self, listing: str) -> list[tuple[int, int]]:
        """The references in a file that is no ELF file, of which objdump says this."""
        directory = Path(self.create_tempdir().full_path)
        (directory / "listing").write_text(listing)
        objdump = directory / "objdump"
        objdump.write_text(f"#!/bin/sh\ncat '{directory}/listing'\n")
        objdump.chmod(0o755)
        binary = directory / "binary"
        binary.write_bytes(b"")
        return list(references.read(str(binary), str(objdump)))

    def test_x86_64(self) -> None:
        self.assertEqual(self._read(_X86_64), [(0x112A, 0x1136), (0x112F, 0x4000), (0x1136, 0x1126)])

    def test_arm64(self) -> None:
        self.assertEqual(self._read(_ARM64), [(0x714, 0x6C0), (0x71C, 0x11D98), (0x720, 0x11010), (0x728, 0x714)])

    def test_no_objdump(self) -> None:
        for objdump in ("no/such/objdump", "/bin/false"):
            self.assertEqual(list(references.read("/bin/true", objdump)), [])


if __name__ == "__main__":
    absltest.main()
