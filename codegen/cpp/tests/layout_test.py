from __future__ import annotations

from absl.testing import absltest

from codegen.cpp import layout


class LayoutTest(absltest.TestCase):
    def test_lines_within_the_limit(self) -> None:
        longest = f"void f({'x' * (layout.COLUMNS - len('void f();'))});"
        text = f"int f(int a, int b);\n\n{longest}\n"
        self.assertEqual(len(longest), 120)
        self.assertEqual(layout.fit(text), text)

    def test_one_argument_a_line(self) -> None:
        a, b = "a" * 60, "b" * 60
        self.assertEqual(
            layout.fit(f"int f(int {a}, int {b}) {{\n  return g(context, {a}, {b});\n}}\n"),
            f"int f(\n    int {a},\n    int {b}) {{\n  return g(\n      context,\n      {a},\n      {b});\n}}\n",
        )

    def test_commas_within_an_argument(self) -> None:
        a, b = "a" * 60, "b" * 60
        for argument in (f"std::tuple<{a}, {b}> x", f"g({a}, b)", f"{{{a}, b}}", f'"{a}, \\", {b}"', f"a->b<{a}, b>()"):
            self.assertEqual(
                layout.fit(f"  f({argument}, {'c' * 60});"), f"  f(\n      {argument},\n      {'c' * 60});"
            )

    def test_last_of_several_parentheses(self) -> None:
        f, a = "f" * 60, "a" * 50
        self.assertEqual(layout.fit(f"  int (*{f})({a}, b) = k;"), f"  int (*{f})(\n      {a},\n      b) = k;")
        self.assertEqual(layout.fit(f"  {f}({a}, b).run();"), f"  {f}(\n      {a},\n      b).run();")

    def test_argument_that_is_too_long(self) -> None:
        a, b = "a" * 60, "b" * 60
        self.assertEqual(
            layout.fit(f"  f(c, g({a}, {b}));"), f"  f(\n      c,\n      g(\n          {a},\n          {b}));"
        )

    def test_return_type_that_leaves_no_room(self) -> None:
        type_, name = f"std::tuple<{'a' * 40}, {'b' * 40}>", "c" * 30
        self.assertEqual(layout.fit(f"{type_} {name}(int d);"), f"{type_}\n{name}(int d);")
        e = "e" * 90
        self.assertEqual(layout.fit(f"{type_} {name}(int d, {e});"), f"{type_}\n{name}(\n    int d,\n    {e});")

    def test_comments(self) -> None:
        self.assertEqual(layout.fit(f"// {'a ' * 80}b"), f"// {('a ' * 59).strip()}\n// {'a ' * 21}b")

    def test_comments_end_with_their_lines(self) -> None:
        a = "a" * 100
        for word in ("\\", "x\\", "??/"):
            self.assertEqual(layout.fit(f"// {a} {word} {a} b"), f"// {a} {word} {a}\n// b")

    def test_what_an_editor_hides_is_escaped(self) -> None:
        self.assertEqual(layout.fit("// a\u202eb é\n"), "// a\\U0000202eb é\n")

    def test_nothing_to_break(self) -> None:
        for line in (f"using {'a' * 120};", f"void {'a' * 120}();", f'#include "{"a/" * 80}(b).h"', f"// {'a' * 120}"):
            self.assertEqual(layout.fit(line), line)

    def test_quoted(self) -> None:
        self.assertEqual(layout.quoted('str mode="a\\b"'), r'"str mode=\"a\\b\""')
        self.assertEqual(layout.quoted("Tensor?[]? a???/"), '"Tensor?[]? a?""?""?/"')
        self.assertEqual(layout.quoted("a\n1\0\x7f"), r'"a\0121\000\177"')


if __name__ == "__main__":
    absltest.main()
