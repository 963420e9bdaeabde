from __future__ import annotations

import random
import sys
from pathlib import Path

from absl.testing import absltest

from codegen import object_files
from codegen.tests import case


class ObjectFilesTest(case.TestCase):
    """Reads what the build's compiler makes of executorch_library.cpp, whose path Bazel passes."""

    def setUp(self) -> None:
        super().setUp()
        paths = sys.argv[1:]
        self.assertTrue(paths)
        self.libraries = [Path(path) for path in paths if path.endswith((".a", ".lo"))]

    def test_macro(self) -> None:
        self.assertTrue(self.libraries)
        source = Path(__file__).with_name("executorch_library.cpp").read_text().splitlines()
        expected = {}
        for line, text in enumerate(source, start=1):
            if text.startswith("EXECUTORCH_LIBRARY("):
                namespace, name = text.partition("(")[2].split(", ")[:2]
                expected[f"{namespace}::{name.strip(chr(34))}"] = f"executorch_library.cpp:{line}"
        self.assertEqual(len(expected), 2)
        for library in self.libraries:
            found = object_files.registrations(str(library))
            self.assertEqual({registration.operator: registration.place for registration in found}, expected)

    def test_other_files(self) -> None:
        for content in (b"", b"\x7fELF", b"name_of_op_1", b"!<arch>\nname_of_op_", b"#!/bin/sh\n"):
            self.assertEqual(object_files.registrations(self.write("file", content)), [])

    def test_damaged_files(self) -> None:
        data = self.libraries[0].read_bytes()
        noise = random.Random(3)
        for _ in range(50):
            damaged = bytearray(data[: noise.randrange(100, len(data))])
            for _ in range(20):
                damaged[noise.randrange(len(damaged))] ^= noise.randrange(256)
            object_files.registrations(self.write("damaged.a", bytes(damaged)))


if __name__ == "__main__":
    # The paths are not absl's.
    absltest.main(argv=sys.argv[:1])
