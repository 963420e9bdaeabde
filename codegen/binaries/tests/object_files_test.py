from __future__ import annotations

import random
import sys
from pathlib import Path

from absl.testing import absltest

from codegen.binaries import object_files
from codegen.tests import case


class ObjectFilesTest(case.TestCase):
    """Reads what the build's compiler and linker make of some sources; Bazel passes the paths."""

    def _files(self, name: str) -> list[Path]:
        """The archives, or shared libraries, of a target."""
        found = [path for path in map(Path, sys.argv[1:]) if path.name.removeprefix("lib").partition(".")[0] == name]
        self.assertTrue(found, sys.argv)
        return found

    def test_macro(self) -> None:
        source = Path(__file__).with_name("executorch_library.cpp").read_text().splitlines()
        expected = {}
        for line, text in enumerate(source, start=1):
            if text.startswith("EXECUTORCH_LIBRARY("):
                namespace, name = text.partition("(")[2].split(", ")[:2]
                expected[f"{namespace}::{name.strip(chr(34))}"] = f"executorch_library.cpp:{line}"
        self.assertEqual(len(expected), 2)
        for library in self._files("executorch_library") + self._files("executorch_library_shared"):
            found = object_files.registrations(str(library))
            self.assertEqual({registration.operator: registration.place for registration in found.known}, expected)
            self.assertFalse(found.has_unknown)

    def test_what_cannot_be_read(self) -> None:
        for library in self._files("registered_by_hand") + self._files("executorch_library_stripped"):
            self.assertEqual(object_files.registrations(str(library)), object_files.Registrations((), True), library)

    def test_generated_library(self) -> None:
        """Its manifest tells what it registers."""
        (library,) = self._files("generated_shared")
        self.assertIn(b"register_kernels", library.read_bytes())
        self.assertEqual(object_files.registrations(str(library)), object_files.Registrations())

    def test_backends(self) -> None:
        names = ("MyBackend", "OtherBackend", "my_ops::twice.out")
        for library in self._files("registered_by_hand"):
            self.assertEqual(object_files.backends(str(library), names), {"MyBackend"}, library)
        for library in self._files("executorch_library"):
            self.assertEqual(object_files.backends(str(library), names), frozenset())

    def test_other_files(self) -> None:
        for content in (b"", b"\x7fELF", b"name_of_op_1", b"!<arch>\nname_of_op_", b"#!/bin/sh\n"):
            path = self.write("file", content)
            self.assertEqual(object_files.registrations(path), object_files.Registrations())
            self.assertEqual(object_files.backends(path, ["name"]), frozenset())

    def test_damaged_files(self) -> None:
        data = self._files("executorch_library")[0].read_bytes()
        noise = random.Random(3)
        for _ in range(50):
            damaged = bytearray(data[: noise.randrange(100, len(data))])
            for _ in range(20):
                damaged[noise.randrange(len(damaged))] ^= noise.randrange(256)
            object_files.registrations(self.write("damaged.a", bytes(damaged)))


if __name__ == "__main__":
    # The paths are not absl's.
    absltest.main(argv=sys.argv[:1])
