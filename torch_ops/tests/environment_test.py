from __future__ import annotations

import json
from pathlib import Path

import torch
from absl.testing import absltest

from torch_ops import environment

_ROOM = Path(environment.__file__).parent


class EnvironmentTest(absltest.TestCase):
    def test_report(self) -> None:
        settings = json.loads((_ROOM / "environment_settings.json").read_text())
        lines = list(environment.report(settings, _ROOM.parent))
        named = dict(lines)
        self.assertEqual(named["PyTorch in Python"].partition(",")[0], torch.__version__)
        self.assertEqual(named["PyTorch in C++"].partition(",")[0], torch.__version__.partition("+")[0])
        self.assertEqual(named["  definitions"], named["  C++ ABI"])
        libraries = [Path(value) for name, value in lines if name == "  lib"]
        self.assertIn("libtorch_cpu.so", [library.name for library in libraries])
        for library in libraries:
            self.assertTrue(library.is_file(), library)
        self.assertIn("-fPIC", named["  flags"].split())


if __name__ == "__main__":
    absltest.main()
