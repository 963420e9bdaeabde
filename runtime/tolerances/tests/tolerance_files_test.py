from __future__ import annotations

from absl.testing import absltest

from runtime.tolerances import tolerance_files
from runtime.tolerances.tolerance import Tolerance

_TOLERANCES = """
- dtype: float32
  rtol: 1.3e-6
  atol: 1.0e-5
  of_largest: 1.0e-4
  least_snr: 60
- dtype: float16
  rtol: 0
  atol: 0.5
  of_largest: 0.25
  least_snr: 40
"""


class ToleranceFilesTest(absltest.TestCase):
    def test_read(self) -> None:
        self.assertEqual(
            tolerance_files.read(_TOLERANCES),
            {"float32": Tolerance(1.3e-6, 1e-5, 1e-4, 60), "float16": Tolerance(0, 0.5, 0.25, 40)},
        )

    def test_header(self) -> None:
        lines = tolerance_files.header(tolerance_files.read(_TOLERANCES)).splitlines()
        self.assertEqual(lines[0], "#pragma once")
        self.assertEqual(
            lines[lines.index("struct DtypeTolerance {") :],
            [
                "struct DtypeTolerance {",
                "  const char* dtype;",
                "  double rtol;",
                "  double atol;",
                "  double of_largest;",
                "  double least_snr;",
                "};",
                "",
                "inline constexpr DtypeTolerance kTolerances[] = {",
                '    {"float32", 1.3e-06, 1e-05, 0.0001, 60.0},',
                '    {"float16", 0.0, 0.5, 0.25, 40.0},',
                "};",
                "",
                "// An element whose size is more than this number of medians is an outlier.",
                "inline constexpr double kOutlierMedians = 1000.0;",
                "",
                "}  // namespace rules_executorch",
            ],
        )

    def test_module(self) -> None:
        names: dict[str, object] = {}
        tolerances = tolerance_files.read(_TOLERANCES)
        exec(tolerance_files.module(tolerances), names)
        self.assertEqual(names["TOLERANCES"], tolerances)

    def test_wrong_number(self) -> None:
        # YAML reads 1e-4 as a string.
        for value in ("1e-4", "-1", "many", "[1]", "true", ".nan"):
            with self.assertRaisesRegex(
                ValueError, "float32: of_largest: expected a number of at least 0, such as 1.0e-7"
            ):
                tolerance_files.read(_TOLERANCES.replace("1.0e-4", value))

    def test_wrong_names(self) -> None:
        for line in ("", "  least_sr: 60\n", "  least_snr: 60\n  other: 1\n"):
            with self.assertRaisesRegex(
                ValueError, "float32: expected the numbers rtol, atol, of_largest, least_snr, got "
            ):
                tolerance_files.read(_TOLERANCES.replace("  least_snr: 60\n", line))

    def test_dtype_of_two(self) -> None:
        with self.assertRaisesRegex(ValueError, "two entries have the dtype float32"):
            tolerance_files.read(_TOLERANCES + _TOLERANCES)


if __name__ == "__main__":
    absltest.main()
