from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from absl.testing import absltest

from codegen.artifacts import selective_build
from codegen.model import kernel_keys
from codegen.tests import case

_SCHEMAS = {
    "aten::add.out": "Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out",
    "aten::mm.out": "Tensor self, Tensor mat2, *, Tensor(a!) out",
    "my_ops::mul3.out": "Tensor x, *, Tensor(a!) out",
}


class PruneCommandTest(case.TestCase):
    def _prune(
        self, keys: dict[str, list[str]], *sources: str, is_aten: bool = False, flags: Sequence[str] = ()
    ) -> selective_build.SelectiveBuild:
        """Prunes the kernels of _SCHEMAS for the operators of a selection, by their kernel keys."""
        for directory in ("first", "second"):
            (self.directory / directory).mkdir()
        operators = [
            {
                "schema": f"{name}({_SCHEMAS[name]}) -> Tensor(a!)",
                "location": ["a.yaml", 1, 1],
                "kernels": [
                    {
                        "function": "a::native::f",
                        "keys": ["default"],
                        "location": ["a.yaml", 1, 1],
                        "is_aten": is_aten,
                    }
                ],
            }
            for name in keys
        ]
        manifest = {"label": "//ops:lib", "yaml_names": ["a.yaml"], "operators": operators}
        selected = {"operators": {name: {"is_root_operator": True} for name in keys}, "et_kernel_metadata": keys}
        self.run_command(
            "prune",
            "--label=//ops:lib",
            "--manifest=" + self.write("registered.json", json.dumps(manifest)),
            "--selection=" + self.write("selected_operators.yaml", json.dumps(selected)),
            *(f"--source={source}" for source in sources),
            f"--directory={self.directory}/first",
            f"--directory={self.directory}/second",
            f"--header={self.directory}/selected_op_variants.h",
            f"--dtypes={self.directory}/dtypes.json",
            f"--marks={self.directory}/SelectedKernels.cpp",
            *flags,
        )
        return selective_build.read(f"{self.directory}/dtypes.json")

    def _dtypes(self, build: selective_build.SelectiveBuild) -> dict[str, list[str] | None]:
        return {
            name: None if dtypes is None else [kernel_keys.dtype_name(dtype) for dtype in sorted(dtypes)]
            for name, dtypes in build.operators.items()
        }

    def test_pytorchs_own_kernels_have_every_dtype(self) -> None:
        build = self._prune({"aten::add.out": ["v1/6;0|6;0|6;0|6;0"]}, is_aten=True)
        self.assertEqual(self._dtypes(build), {})

    def test_sources_of_selected_operators_and_what_they_share(self) -> None:
        build = self._prune(
            {"aten::add.out": ["v1/6;0|6;0|6;0|6;0"]},
            "0:kernels/op_add.cpp:aten::add.out,aten::add.Scalar_out",
            "0:kernels/op_mm.cpp:aten::mm.out",
            "1:kernels/util/convert.cpp:",
        )
        self.assertEqual(build.label, "//ops:lib")
        self.assertEqual(self._dtypes(build), {"aten::add.out": ["Float"], "aten::add.Scalar_out": []})
        self.assertEqual(build.kernel_sources, ("kernels/op_add.cpp",))
        marks = (self.directory / "SelectedKernels.cpp").read_text()
        self.assertRegex(marks, r"\{\n\nchar kernels_op_add_cpp;\n\n\}")
        self.assertEqual([path.name for path in (self.directory / "first").iterdir()], ["kernels_op_add.cpp"])
        self.assertEqual([path.name for path in (self.directory / "second").iterdir()], ["kernels_util_convert.cpp"])
        self.assertEqual(
            (self.directory / "first/kernels_op_add.cpp").read_text(),
            """\
// op_add.cpp with the dtypes that //ops:lib selects. Generated; do not edit.
#include "runtime/selective_build.h"

#include "kernels/op_add.cpp"
""",
        )

    def test_source_of_the_root_package(self) -> None:
        """The written source does not include itself, which is in the first folder that a compiler searches."""
        for sources in (["0:op_add.cpp:aten::add.out"], ["0:op_add.cpp:aten::add.out", "0:op_mm.cpp:aten::mm.out"]):
            with self.subTest(sources):
                self.directory = Path(self.create_tempdir().full_path)
                keys: dict[str, list[str]] = {"aten::add.out": [], "aten::mm.out": []}
                self._prune(keys, *sources, flags=["--unity_build=0", "--sources_per_unit=6"])
                (written,) = (self.directory / "first").iterdir()
                self.assertNotIn(f'#include "{written.name}"', written.read_text())
                self.assertIn('#include "op_add.cpp"\n', written.read_text())

    def test_units_of_several_sources(self) -> None:
        files = [f"kernels/op_{i}.cpp" for i in range(20)]
        sources = [f"1:{file}:aten::add.out" for file in files]
        for flags in ([], ["--unity_build=1", "--sources_per_unit=6"]):
            self._prune({"aten::add.out": ["default"]}, *sources, flags=flags)
            units = [path.read_text() for path in sorted((self.directory / "second").iterdir())]
            shutil.rmtree(self.directory / "second")
            shutil.rmtree(self.directory / "first")
            self.assertIn(len(units), range(2, 5) if flags else [20])
            included = [line for unit in units for line in unit.splitlines() if "kernels/" in line]
            self.assertCountEqual(included, [f'#include "{file}"' for file in files])

    def test_dtypes(self) -> None:
        build = self._prune(
            {
                "aten::add.out": ["default"],
                "aten::mm.out": ["v1/5;"],
                "my_ops::mul3.out": ["v1/6;0|6;0|6;0", "v1/4;0|4;0|4;0"],
            },
        )
        self.assertEqual(
            self._dtypes(build),
            {
                "aten::add.out": None,
                "aten::mm.out": ["Half", "Float"],
                "my_ops::mul3.out": ["Long", "Float"],
            },
        )

    def test_not_the_dtypes_of_a_build(self) -> None:
        for content in ("[]", '{"label": "//a:a", "kernel_sources": [], "operators": {"a::b": ["Flat"]}}'):
            path = self.write("dtypes.json", content)
            self.assert_refused(functools.partial(selective_build.read, path), "wrong-artifact dtypes.json")

    def test_an_operator_is_text_and_no_code(self) -> None:
        self._prune({"aten::add.out": ["v1/6;"]}, '0:op.cpp:aten::add.out,a::b" || true || "')
        header = (self.directory / "selected_op_variants.h").read_text()
        self.assertIn(r'operator_name == "a::b\" || true || \""', header)


if __name__ == "__main__":
    absltest.main()
