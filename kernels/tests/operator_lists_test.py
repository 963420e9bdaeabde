"""Tests of the operator lists of the kernel libraries."""

from __future__ import annotations

from pathlib import Path

from absl.testing import absltest, parameterized

from kernels import operator_lists

_ROOT = Path(operator_lists.__file__).parents[1]
_YAML = "- op: f.out\n  kernels:\n    - arg_meta: null\n      kernel_name: torch::executor::f_out\n"
_OWN = "- func: own::g(Tensor x) -> Tensor\n  kernels:\n    - kernel_name: own::g\n"
_SOURCE = '#include "kernels/copy/copy.h"\n#include "kernels/gemm/rows.h"\n\nTensor& f_out(Context& ctx) {'
_LIBRARIES = {"kernels/copy/copy.h": "copy", "kernels/gemm/rows.h": "gemm:matrix"}


class OperatorListsTest(parameterized.TestCase):
    @parameterized.parameters(*operator_lists.LIBRARIES)
    def test_lists(self, folder: Path) -> None:
        text = (_ROOT / folder / operator_lists.LIST).read_text()
        update = "update it: tools/bazel run //kernels:write_operators"
        self.assertEqual(text, operator_lists.updated(_ROOT, folder), update)

    def test_headers(self) -> None:
        build = """genrule(
    name = "made",
    outs = ["rows.h"],
)

cc_library(
    name = "matrix",
    srcs = ["matrix.cpp"],
    hdrs = [
        "rows.h",
        "matrix.h",
    ],
)

cc_library(
    name = "copy",
    hdrs = ["copy.h"],
)
"""
        self.assertEqual(
            operator_lists.libraries_of_headers({"copy": build, "copy/rows": build.replace("matrix", "rows")}),
            {
                "kernels/copy/rows.h": "copy:matrix",
                "kernels/copy/matrix.h": "copy:matrix",
                "kernels/copy/copy.h": "copy",
                "kernels/copy/rows/rows.h": "copy/rows",
                "kernels/copy/rows/copy.h": "copy/rows:copy",
            },
        )

    def test_entries(self) -> None:
        sources = {"op_f.cpp": _SOURCE, "op_g.cpp": "// f_out is beside.\nTensor g(const Tensor& x);"}
        self.assertEqual(
            operator_lists.entries(sources, [_YAML, _OWN], _LIBRARIES),
            '    "op_f": operator_file(["aten::f.out"], ["copy", "gemm:matrix"]),\n'
            '    "op_g": operator_file(["own::g"], []),\n',
        )

    @parameterized.named_parameters(
        ("no_operator", {"op_f.cpp": _SOURCE, "op_h.cpp": ""}, "op_h.cpp: no YAML names a function of the file"),
        ("no_file", {}, r"no file defines the kernels of aten::f.out \(f_out\)"),
        ("several", {"op_f.cpp": _SOURCE, "op_h.cpp": _SOURCE}, "op_h.cpp: op_f.cpp defines f_out, too"),
        (
            "no_target",
            {"op_f.cpp": _SOURCE.replace("rows", "cols")},
            "op_f.cpp: no target of kernels/gemm/BUILD.bazel has cols.h in hdrs",
        ),
    )
    def test_mistakes(self, sources: dict[str, str], message: str) -> None:
        with self.assertRaisesRegex(ValueError, message):
            operator_lists.entries(sources, [_YAML], _LIBRARIES)


if __name__ == "__main__":
    absltest.main()
