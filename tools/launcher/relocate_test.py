"""Tests of making unpacked packages run from where they lie."""

import dataclasses
import pathlib
import struct
import tempfile
import unittest
from collections.abc import Sequence

from tools.launcher.debian import machine, process, relocate

_PT_LOAD = 1
_PT_INTERP = 3


def _elf(*segments: int, magic: bytes = b"\x7fELF\x02\x01") -> bytes:
    """An ELF file that has program headers of these types, and nothing else."""
    header = magic.ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, len(segments), 64, 0, 0
    )
    return header + b"".join(struct.pack("<I", segment).ljust(56, b"\0") for segment in segments)


@dataclasses.dataclass(frozen=True)
class _FakeCommands(process.Commands):
    ran: list[list[str]] = dataclasses.field(default_factory=list)

    def run(self, command: Sequence[str | pathlib.Path], cwd: pathlib.Path | None = None) -> str:
        self.ran.append([str(word) for word in command])
        return ""


class RelocateTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def file(self, name: str, content: bytes = b"") -> pathlib.Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def test_links(self) -> None:
        self.file("etc/java/jvm.cfg", b"config")
        library = self.root / "usr/lib"
        library.mkdir(parents=True)
        (library / "absolute").symlink_to("/etc/java/jvm.cfg")
        (library / "relative").symlink_to("../../etc/java/jvm.cfg")
        (library / "folder").symlink_to("/etc/java")
        (library / "dangling").symlink_to("/etc/none")
        relocate.relocate_links(self.root)
        self.assertEqual(str((library / "absolute").readlink()), "../../etc/java/jvm.cfg")
        self.assertEqual(str((library / "relative").readlink()), "../../etc/java/jvm.cfg")
        self.assertEqual((library / "folder/jvm.cfg").read_bytes(), b"config")
        self.assertEqual(str((library / "dangling").readlink()), "../../etc/none")

    def test_is_program(self) -> None:
        self.assertTrue(relocate.is_program(self.file("program", _elf(_PT_LOAD, _PT_INTERP))))
        self.assertFalse(relocate.is_program(self.file("library", _elf(_PT_LOAD))))
        self.assertFalse(relocate.is_program(self.file("32-bit", _elf(_PT_INTERP, magic=b"\x7fELF\x01\x01"))))
        self.assertFalse(relocate.is_program(self.file("script", b"#!/bin/sh\n".ljust(100))))
        self.assertFalse(relocate.is_program(self.file("short", b"\x7fELF")))
        self.assertFalse(relocate.is_program(self.file("empty")))

    def test_programs(self) -> None:
        bazel = self.file("usr/bin/bazel", _elf(_PT_INTERP))
        java = self.file("usr/lib/jvm/java/bin/java", _elf(_PT_INTERP))
        self.file("usr/lib/jvm/java/lib/libjava.so", _elf(_PT_LOAD))
        self.file("usr/bin/other", _elf(_PT_INTERP))
        commands = _FakeCommands(0)
        system = self.root / "usr/lib/aarch64-linux-gnu"
        relocate.relocate_programs(
            self.root,
            [bazel, self.root / "usr/lib/jvm"],
            [system, self.root / "usr/lib/jvm/java/lib"],
            machine.Architecture("arm64", "aarch64-linux-gnu", "ld-linux-aarch64.so.1"),
            commands,
        )
        loader = f"{system}/ld-linux-aarch64.so.1"
        patchelf = [loader, "--library-path", f"{system}", f"{self.root}/usr/bin/patchelf"]
        rpath = f"{system}:{self.root}/usr/lib/jvm/java/lib"
        options = ["--force-rpath", "--set-interpreter", loader, "--set-rpath", rpath]
        self.assertEqual(commands.ran, [[*patchelf, *options, str(bazel), str(java)]])


if __name__ == "__main__":
    unittest.main()
