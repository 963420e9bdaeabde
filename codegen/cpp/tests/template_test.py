from __future__ import annotations

import re
from pathlib import Path

from absl.testing import absltest

from codegen.cpp import layout, template

_ROOM = Path(template.__file__).parent


class TemplateTest(absltest.TestCase):
    def test_fill(self) -> None:
        text = template.fill("KernelForDtypes.cpp", names="op.cpp", label="//:lib", includes='#include "a/op.cpp"\n')
        self.assertIn('\n\n#include "a/op.cpp"\n', text)

    def test_layout(self) -> None:
        text = template.fill("KernelForDtypes.cpp", names="op.cpp", label=f"//:{'long ' * 40}", includes="")
        self.assertLessEqual(max(map(len, text.splitlines())), layout.COLUMNS)

    def test_every_template_is_used(self) -> None:
        sources = "".join(path.read_text() for path in _ROOM.glob("*.py"))
        used = re.findall(r'\bfill\(\s*"([^"]+)"', sources)
        self.assertCountEqual({f"{name}.template" for name in used}, [p.name for p in (_ROOM / "templates").iterdir()])


if __name__ == "__main__":
    absltest.main()
