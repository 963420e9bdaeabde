"""Exports modules of all kinds of kinds.py. Each export runs its program and compares the results with the module's."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from absl.testing import absltest, parameterized

from export.emulator.tests.kinds import KINDS
from export.exporter import export

# A third of the kinds also has the default passes, of which all others are a superset.
_GROUPS: tuple[tuple[str, ...], ...] = ((), ("all",))
_CASES = [
    (name, group)
    for number, name in enumerate(KINDS)
    for group in (*_GROUPS, *([("default",)] if number % 3 == 0 else []))
]


class KindsTest(parameterized.TestCase):
    @parameterized.named_parameters((f"{' '.join(group) or 'none'}: {name}", name, group) for name, group in _CASES)
    def test_export(self, name: str, group: tuple[str, ...]) -> None:
        model = Path(self.create_tempdir().full_path) / "model.py"
        model.write_text(KINDS[name].source())
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            exported = export(model, graph_passes=group, strict_passes=True)
        self.assertEqual(exported.warnings, ())
        checked = exported.checked["forward"]
        self.assertEqual((checked.left_out, checked.samples, checked.all_samples), ("", 3, 3), str(checked))


if __name__ == "__main__":
    absltest.main()
