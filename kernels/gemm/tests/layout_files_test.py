from __future__ import annotations

from absl.testing import absltest

from kernels.gemm import layout_files

_LAYOUTS = """
- layout: byte_panel
  text: Weights in panels.
  elements:
    - of: linear
      shape: up(N, columns) * columns, K
      at: n, k
      half: k % 2
  constants:
    columns:
      value: 16
      text: Columns of a panel.
    points:
      value: [0, 0.5]
      text: Points.
"""


class LayoutFilesTest(absltest.TestCase):
    def test_header(self) -> None:
        lines = layout_files.header(layout_files.read(_LAYOUTS)).splitlines()
        self.assertEqual(lines[0], "#pragma once")
        self.assertEqual(
            lines[lines.index("namespace rules_executorch::kernels {") :],
            [
                "namespace rules_executorch::kernels {",
                "",
                "// byte_panel: Weights in panels.",
                "// linear: [n, k], half k % 2 of [up(N, columns) * columns, K]",
                "",
                "/// Columns of a panel.",
                "inline constexpr int64_t kBytePanelColumns = 16;",
                "",
                "/// Points.",
                "inline constexpr double kBytePanelPoints[] = {0.0, 0.5};",
                "",
                "}  // namespace rules_executorch::kernels",
            ],
        )

    def test_module(self) -> None:
        names: dict[str, object] = {}
        exec(layout_files.module(layout_files.read(_LAYOUTS)), names)
        self.assertEqual((names["BYTE_PANEL_COLUMNS"], names["BYTE_PANEL_POINTS"]), (16, (0.0, 0.5)))

    def test_wrong_value(self) -> None:
        for value in ("1.5", "many", "[a]"):
            with self.assertRaises(ValueError):
                layout_files.read(_LAYOUTS.replace("16", value))

    def test_name_of_two(self) -> None:
        with self.assertRaisesRegex(ValueError, "two constants have the same name"):
            layout_files.read(_LAYOUTS + _LAYOUTS)


if __name__ == "__main__":
    absltest.main()
