from __future__ import annotations

import io
import os
from pathlib import Path

from absl.testing import absltest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from codegen.binaries.private_copy import private_copy


def _tags(library: bytes) -> dict[str, list[str]]:
    """The texts in the dynamic section of a library."""
    found: dict[str, list[str]] = {}
    for section in ELFFile(io.BytesIO(library)).iter_sections():
        if isinstance(section, DynamicSection):
            for tag in section.iter_tags():
                for name in ("needed", "soname", "runpath", "rpath"):
                    if hasattr(tag, name):
                        found.setdefault(name, []).append(getattr(tag, name))
    return found


class PrivateCopyTest(absltest.TestCase):
    def test_names_and_run_path(self) -> None:
        library = Path(os.environ["LIBRARY"]).read_bytes()
        before = _tags(library)
        self.assertEqual(before["soname"], ["libexecutorch_threadpool.so"])
        self.assertIn("libexecutorch.so", before["needed"])
        copy = private_copy(library, "et01234567", "$ORIGIN")
        after = _tags(copy)
        self.assertEqual(after["soname"], ["libet01234567_threadpool.so"])
        self.assertEqual(after["runpath"], ["$ORIGIN"])
        self.assertEqual(after["needed"], [name.replace("executorch", "et01234567") for name in before["needed"]])
        self.assertEqual(len(copy), len(library))
        # The rest is the same, byte for byte.
        again = private_copy(copy, "et01234567", "$ORIGIN")
        self.assertEqual(again, copy)
        changed = [i for i, (one, other) in enumerate(zip(library, copy, strict=True)) if one != other]
        self.assertLess(changed[-1] - changed[0], 4096)

    def test_no_room_for_a_run_path(self) -> None:
        with self.assertRaisesRegex(ValueError, "no room"):
            private_copy(Path(os.environ["LIBRARY"]).read_bytes(), "et01234567", "/" * 1000)


if __name__ == "__main__":
    absltest.main()
