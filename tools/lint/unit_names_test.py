from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.lint import unit_names

_SOURCE = """
namespace {{

{}

}}  // namespace

int outside() {{ return 0; }}
"""


class UnitNamesTest(absltest.TestCase):
    def test_names(self) -> None:
        for text, names in (
            ("struct Sum {\n  int member() const;\n};", {"Sum"}),
            ("enum Padding : int64_t { kZeros };", {"Padding"}),
            ("using Bytes = char;\ntemplate <typename T> using Two = T[2];", {"Bytes", "Two"}),
            ("constexpr int64_t kRows = 512;\nconst float kTable[] = {1};", {"kRows", "kTable"}),
            ("template <typename T>\nconst T* find(T x) {\n  return other(x);\n}", {"find"}),
            ('static_assert(sizeof(int) == 4, "");\n// f(x)', set()),
        ):
            self.assertEqual(unit_names.anonymous(_SOURCE.format(text)), names, text)

    def test_places(self) -> None:
        tree = Path(self.create_tempdir().full_path)
        sources = {
            "kernels/copy/a.cpp": "void same(int x) {}",
            "kernels/copy/b.cpp": "void same(float x) {}",
            "kernels/optimized/op_a.cpp": "void from_header() {}\nvoid once() {}",
            "kernels/portable/op_b.cpp": "int twice = 0;\nvoid same() {}",
            "kernels/quantized/op_c.cpp": "void same() {}",
        }
        for file, text in sources.items():
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_text(_SOURCE.format(text))
        (tree / "kernels/copy/c.h").write_text("void from_header();\n")
        found = [line.partition(", too")[0] for line in unit_names.check(tree, [*sources, "kernels/copy/c.h"])]
        self.assertEqual(
            found,
            [
                "kernels/copy/b.cpp: same is in kernels/copy/a.cpp",
                "kernels/optimized/op_a.cpp: from_header is in kernels/copy/c.h",
                "kernels/quantized/op_c.cpp: same is in kernels/portable/op_b.cpp",
            ],
        )


if __name__ == "__main__":
    absltest.main()
