from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from codegen.source_templates.source_templates import SourceTemplates


class SourceTemplatesTest(absltest.TestCase):
    def _fill(self, text: str, **values: object) -> str:
        folder = self.create_tempdir()
        folder.create_file("a.cpp.template", text)
        return SourceTemplates(Path(folder.full_path)).fill("a.cpp", **values)

    def test_placeholders(self) -> None:
        text = 'int $name = $value;  // "${name}_1"\n'
        self.assertEqual(self._fill(text, name="x", value=3), 'int x = 3;  // "x_1"\n')
        with self.assertRaises(KeyError):
            self._fill(text, name="x")

    def test_whole_lines(self) -> None:
        text = "namespace {\n$lines\n}\n"
        self.assertEqual(self._fill(text, lines=""), "namespace {\n}\n")
        self.assertEqual(self._fill(text, lines="one\ntwo\n"), "namespace {\none\ntwo\n}\n")

    def test_percent_signs(self) -> None:
        self.assertEqual(self._fill('log("%s %%", $x);\n', x="100%"), 'log("%s %%", 100%);\n')


if __name__ == "__main__":
    absltest.main()
