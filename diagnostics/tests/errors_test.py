from __future__ import annotations

from absl.testing import absltest

from diagnostics import errors, suggest
from diagnostics.errors import Finding, InputError


def _finding(text: str, details: int = 1) -> Finding:
    return Finding(text, text, text, text, (text,) * details, id="bad-schema")


class ErrorsTest(absltest.TestCase):
    def test_short_texts_are_shown_whole(self) -> None:
        text = "é" * errors.MAX_TEXT
        self.assertEqual(errors.shown(text), text)
        self.assertIn(f"error: {text}\n", str(_finding(text)))

    def test_messages_are_bounded(self) -> None:
        shown = errors.shown("a" * 10**8 + "b")
        self.assertEqual(shown, f"{'a' * 1000} ... [99,998,001 characters] ... {'a' * 999}b")
        self.assertLess(len(str(_finding("a" * 10**7, details=1000))), 210 * 2100)
        self.assertIn("\n    and 800 more\n", str(_finding("a", details=1000)))
        error = str(InputError([_finding("a" * 10**6)] * 1000))
        self.assertLess(len(error), 50 * 6 * 2100)
        self.assertTrue(error.endswith("\nand 950 more errors"))

    def test_what_a_terminal_hides(self) -> None:
        self.assertEqual(errors.shown("a\x1b[2Jb\u202ec\nd"), "a\\x1b[2Jb\\u202ec\nd")

    def test_no_suggestions_for_what_is_no_name(self) -> None:
        self.assertEqual(suggest.nearest("a" * 10**7, ["a" * 100]), ())


if __name__ == "__main__":
    absltest.main()
