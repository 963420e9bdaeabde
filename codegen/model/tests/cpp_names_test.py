from __future__ import annotations

from absl.testing import absltest

from codegen.model import cpp_names, schema, signatures
from diagnostics.errors import Location


class CppNamesTest(absltest.TestCase):
    def test_free(self) -> None:
        for name in ("input", "x1", "_a", "a_", "N", "HxW", "weight"):
            self.assertEqual(cpp_names.free(name), name)
        for name in ("class", "errno", "NULL", "signals", "I", "Tensor"):
            self.assertEqual(cpp_names.free(name), f"{name}_")
        for name in ("EPERM", "M_PIf", "__LINE__", "a__b", "_Bool", "_T_SIZE"):
            self.assertEqual(cpp_names.free(name), f"{name}_x")
        self.assertEqual(cpp_names.free("a", {"a", "a_"}), "a__")
        self.assertEqual(cpp_names.free("class", {"class_"}), "class__")

    def test_possible(self) -> None:
        for name in ("add_out", "__and__", "_add", "signals", "QNN", "Tensor"):
            self.assertTrue(cpp_names.is_possible(name), name)
        for name in ("class", "co_await", "errno", "NULL", "assert", "__FILE__", "__func__", "_Bool", "int64_t"):
            self.assertFalse(cpp_names.is_possible(name), name)

    def test_parameters_differ(self) -> None:
        text = "a::b(int class, int class_, int class__, int errno, int errno_) -> int"
        names = signatures.parameter_names(schema.parse(text, lambda _: Location("a.yaml")))
        self.assertEqual(len(set(names)), 5)
        self.assertIn("class_", names)


if __name__ == "__main__":
    absltest.main()
