from __future__ import annotations

import re
from pathlib import Path

from absl.testing import absltest

from codegen.cpp import template

_ROOM = Path(template.__file__).parent


class TemplateTest(absltest.TestCase):
    def test_placeholders(self) -> None:
        text = template.fill("KernelForDtypes.cpp", name="op.cpp", label="//:lib", source="a/op.cpp")
        self.assertIn('\n\n#include "a/op.cpp"\n', text)
        with self.assertRaises(KeyError):
            template.fill("KernelForDtypes.cpp", name="op.cpp")

    def test_whole_lines(self) -> None:
        values = {"label": "//:lib", "namespace": "lib_0", "yaml_names": "a.yaml", "declarations": "", "entries": ""}
        self.assertIn(
            "namespace {\n\nconstexpr Kernel kKernels[] = {\n};\n\n}  // namespace\n\n"
            "Span<const Kernel> KERNEL_TABLE() {\n  return {kKernels, std::size(kKernels)};\n}\n\n"
            "}  // namespace lib_0\n",
            template.fill("KernelTable.cpp", **values, own_includes="", exception_boundary="", typed_table=""),
        )
        self.assertIn(
            "namespace {\n\none\ntwo\nconstexpr",
            template.fill(
                "KernelTable.cpp", **values, own_includes="", exception_boundary="one\ntwo\n", typed_table=""
            ),
        )

    def test_percent_signs(self) -> None:
        self.assertIn('"a kernel threw an exception: %s"', template.fill("exception_boundary.cpp"))

    def test_every_template_is_used(self) -> None:
        sources = "".join(path.read_text() for path in _ROOM.glob("*.py"))
        used = re.findall(r'\bfill\(\s*"([^"]+)"', sources)
        self.assertCountEqual({f"{name}.template" for name in used}, [p.name for p in (_ROOM / "templates").iterdir()])


if __name__ == "__main__":
    absltest.main()
