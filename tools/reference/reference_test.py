from __future__ import annotations

import re
from pathlib import Path

from absl.testing import absltest

from tools.reference import reference, textproto

_ROOT = Path(reference.__file__).parent.parent.parent


class TextprotoTest(absltest.TestCase):
    def test_message(self) -> None:
        message = textproto.parse(
            'rule_info {\n  rule_name: "a"\n  attribute {\n    type: NAME\n    mandatory: true\n  }\n'
            "  attribute {\n  }\n}\n"
            'rule_info {\n  doc_string: "caf\\303\\251 \\"b\\"\\n\\\'c\\\' \\\\"\n}\nkey: "1"\nkey: "2"\n'
        )
        first, second = message.inner("rule_info")
        self.assertEqual(first.text("rule_name"), "a")
        self.assertEqual([a.text("type") for a in first.inner("attribute")], ["NAME", ""])
        self.assertEqual(second.text("doc_string"), "café \"b\"\n'c' \\")
        self.assertEqual(message.texts("key"), ["1", "2"])
        self.assertEqual(message.inner("func_info"), [])

    def test_malformed(self) -> None:
        for text in ("a {\n", "}\n", "a: \n", 'a: "b\n', 'a: "b" "c"\n', "a\n"):
            with self.subTest(text), self.assertRaises(textproto.MalformedTextError):
                textproto.parse(text)


class ReferenceTest(absltest.TestCase):
    def test_document(self) -> None:
        self.assertEqual(
            (_ROOT / "docs" / "rules.md").read_text(),
            reference.document(),
            "docs/rules.md is not that of the docstrings; update it: tools/bazel run //tools/reference",
        )

    def test_each_symbol_is_there(self) -> None:
        defined = set()
        for module in ("defs", "extensions", "providers", "repositories", "torch_ops_check"):
            text = (_ROOT / "rules" / f"{module}.bzl").read_text()
            defined.update(re.findall(r"^(?:def )?([A-Za-z]\w*)(?: =|\()", text, re.MULTILINE))
        defined -= {"load"}
        documented = {symbol.name for symbols in reference.sections().values() for symbol in symbols}
        self.assertContainsSubset(reference.other_names(), defined)
        documented |= reference.other_names().keys()
        self.assertEqual(documented, defined)

    def test_each_symbol_and_attribute_is_explained(self) -> None:
        for symbols in reference.sections().values():
            for symbol in symbols:
                self.assertRegex(symbol.text, r"\A\w|\A`", symbol.name)
                self.assertNotRegex(symbol.text, r"(?m): $", symbol.name)

    def test_kwargs_are_the_attributes_of_the_rule(self) -> None:
        function = textproto.parse(
            'function_name: "f"\nparameter {\n  name: "kwargs"\n  doc_string: "a, b and the common attributes."\n}\n'
        )
        a = 'attribute {\n  name: "a"\n  type: STRING\n  doc_string: "Is a."\n}\n'
        b = 'attribute {\n  name: "b"\n  type: BOOLEAN\n  default_value: "True"\n  doc_string: "Is\\nb."\n}\n'
        symbol = reference.function(function, textproto.parse(a + b))
        self.assertEqual(symbol.text, "Parameters:\n\n- `a` (string): Is a.\n- `b` (bool, default `True`): Is b.")
        with self.assertRaisesRegex(reference.DocstringError, r"f: \*\*kwargs names b"):
            reference.function(function, textproto.parse(a))
        c = 'attribute {\n  name: "c"\n  type: STRING\n  doc_string: "Is c."\n}\n'
        with self.assertRaisesRegex(reference.DocstringError, r"f: \*\*kwargs does not name c"):
            reference.function(function, textproto.parse(a + b + c))
        given = c.replace("Is c.", "Is c. The macro\\ngives it.")
        self.assertEqual(reference.function(function, textproto.parse(a + b + given)), symbol)
        own = textproto.parse(
            'function_name: "f"\nparameter {\n  name: "c"\n  doc_string: "Own."\n}\n'
            'parameter {\n  name: "kwargs"\n  doc_string: "a, b and the common attributes."\n}\n'
        )
        self.assertIn("- `c`: Own.", reference.function(own, textproto.parse(a + b + c)).text)


if __name__ == "__main__":
    absltest.main()
