from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.lint import kernel_sizes

_TEXT = """\
#include <cmath>

namespace kernels {

/// A function whose declaration takes two lines.
template <typename T>
void f(const T* values,
       int64_t n) {
#if defined(SHORT)
  g();

#endif
  for (int64_t i = 0; i < n; ++i) {
    h(i);
  }
}

struct Sums {
  int64_t n = 0;

  int64_t size() const {
    if (n < 0) {
      return 0;
    }
    return n;
  }
};

int64_t g() { return 1; }

}  // namespace kernels
"""


class KernelSizesTest(absltest.TestCase):
    def test_functions(self) -> None:
        self.assertEqual(list(kernel_sizes.functions(_TEXT)), [(7, 10), (21, 6)])

    def test_places(self) -> None:
        tree = Path(self.create_tempdir().full_path)
        long = "void f() {\n" + 60 * "  g();\n" + "}\n"
        texts = {
            "kernels/math/a.h": long,
            "kernels/math/b.h": 401 * "\n",
            "kernels/math/c.h": 400 * "\n" + "// The last line has no end.",
            "kernels/math/tests/a_test.cpp": long,
            "kernels/testing/b.cpp": long,
            "runtime/c.h": long,
        }
        for file, text in texts.items():
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_text(text)
        self.assertEqual(
            [finding.partition(";")[0] for finding in kernel_sizes.check(tree, texts)],
            [
                "kernels/math/a.h:1: a function of 62 lines, at most 60",
                "kernels/math/b.h: 401 lines, at most 400",
                "kernels/math/c.h: 401 lines, at most 400",
            ],
        )


if __name__ == "__main__":
    absltest.main()
