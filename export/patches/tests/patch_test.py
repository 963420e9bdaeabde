"""Tests of the check of what a patch patches."""

from __future__ import annotations

import importlib
import sys
import textwrap
from types import ModuleType

from absl.testing import absltest

from diagnostics.errors import InputError
from diagnostics.golden import case
from export.patches import patch
from export.patches.patch import Patch

_SOURCE = '''
class House:
    class Cellar:
        def door(self):
            return "cellar"

    TEXT = """
import this
"""

    @staticmethod
    def door(
        width=1,
    ):
        # A comment.
        return "closed"

    def window(self):
        return "closed"
'''
_DOOR = "House.door"


class PatchTest(case.TestCase):
    def setUp(self) -> None:
        super().setUp()
        sys.path.insert(0, str(self.directory))
        self.addCleanup(sys.path.remove, str(self.directory))

    def module(self, name: str, source: str = _SOURCE) -> ModuleType:
        """Writes and imports a module. The names of modules differ, since sources are read once."""
        self.write(f"{name}.py", source)
        importlib.invalidate_caches()
        self.addCleanup(sys.modules.pop, name, None)
        return importlib.import_module(name)

    def patch(self, name: str, path: str = _DOOR, *, known: str | None = None, is_needed: bool = False) -> Patch:
        """A patch of a function of a module."""
        source = f"{name}:{path}"
        of_version = {"1.4.1": "0", "1.5.1": known or str(patch.fingerprint(source))}
        return Patch("open_door", {source: of_version}, "the door stays closed", is_needed)

    def test_source(self) -> None:
        self.module("source_of_house")
        expected = 'def door(\n    width=1,\n):\n    return "closed"\n'
        self.assertEqual(textwrap.dedent(patch.source("source_of_house:House.door")), expected)
        for name, begin in (("House", "class House:"), ("House.Cellar.door", "        def door(self):")):
            self.assertTrue(patch.source(f"source_of_house:{name}").startswith(begin))
        for gone in ("source_of_house:House.wall", "source_of_house:door", "no_house:House"):
            self.assertEqual(patch.source(gone), "")
            self.assertIsNone(patch.fingerprint(gone))

    def test_fingerprint(self) -> None:
        first = self.module("first_house") and patch.fingerprint(f"first_house:{_DOOR}")
        for number, (old, new, is_same) in enumerate(
            (
                ("        # A comment.\n", "\n        # Another comment.\n", True),
                ("    @staticmethod\n", "", True),
                ('window(self):\n        return "closed"', 'window(self):\n        return "open"', True),
                ("width=1", "width=2", False),
                ('        # A comment.\n        return "closed"', '        return "open"', False),
            )
        ):
            with self.subTest(new):
                self.assertIn(old, _SOURCE)
                self.module(f"house_{number}", _SOURCE.replace(old, new))
                self.assertEqual(patch.fingerprint(f"house_{number}:{_DOOR}") == first, is_same)

    def test_known(self) -> None:
        house = self.module("known_house").House
        with patch.noted() as met, self.patch("known_house").applied(house, door=lambda: "open", new=1):
            self.assertEqual((house.door(), house.new), ("open", 1))
        self.assertEqual(house.door(), "closed")
        self.assertNotIn("new", vars(house))
        self.assertEqual(patch.warnings(met), ())

    def test_wrapped(self) -> None:
        house = self.module("wrapped_house").House
        with self.patch("wrapped_house").wrapped(house, "window", lambda window, one: f"{window(one)}, not open"):
            self.assertEqual(house().window(), "closed, not open")
        self.assertEqual(house().window(), "closed")

    def test_left_out(self) -> None:
        house = self.module("changed_house").House
        for path, known in ((_DOOR, "other"), ("House.wall", "other")):
            with self.patch("changed_house", path, known=known).wrapped(house, "wall", lambda wall: wall()):
                self.assertFalse(hasattr(house, "wall"))
            with self.subTest(path), patch.noted() as met:
                with self.patch("changed_house", path, known=known).applied(house, door=lambda: "open"):
                    self.assertEqual(house.door(), "closed")
                (warning,) = patch.warnings(met)
                self.assertEqual((warning.id, warning.severity), ("unknown-internals", "warning"))
                self.assertIn("open_door: left out, so the door stays closed", str(warning))

    def test_needed(self) -> None:
        house = self.module("needed_house").House
        with patch.noted() as met:
            with self.patch("needed_house", known="other", is_needed=True).applied(house, door=lambda: "open"):
                self.assertEqual(house.door(), "open")
            self.assertIn("open_door: applied all the same", str(patch.warnings(met)[0]))
        gone = self.patch("needed_house", "House.wall", known="other", is_needed=True)
        expected = "open_door: cannot be applied, so .*needed_house:House.wall is gone"
        with self.assertRaisesRegex(InputError, expected), gone.applied(house, wall=1):
            self.fail("is applied")

    def test_message(self) -> None:
        self.module("house_of_message")
        left_out = self.patch("house_of_message", known="other")
        two = {"house_of_message:House.wall": {"2.13": "0"}, f"house_of_message:{_DOOR}": {"2.13": "0"}}
        installed = {"executorch": "1.6.0", "torch": "2.15.0+cpu"}
        findings = [
            patch.finding([left_out], installed),
            patch.finding([left_out, Patch("new_wall", two, "", is_needed=True)], installed),
            patch.finding([Patch("new_wall", two, "there is no wall", is_needed=True)], installed, is_error=True),
        ]
        place = "unknown-internals executorch 1.6.0, torch 2.15.0+cpu"
        self.assert_findings(findings, place, place, place)


if __name__ == "__main__":
    absltest.main()
