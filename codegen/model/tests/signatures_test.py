"""Tests of the C++ types of kernels' parameters."""

from __future__ import annotations

from absl.testing import absltest

from codegen.model import schema, signatures
from codegen.model.schema_types import Dialect
from diagnostics.errors import Location

_MULTINOMIAL = (
    "aten::multinomial.out(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None, "
    "Tensor(a!) out) -> Tensor(a!)"
)


def _parse(text: str) -> schema.FunctionSchema:
    return schema.parse(text, lambda offset: Location("ops.yaml", 1))


class SignaturesTest(absltest.TestCase):
    def test_reads_values(self) -> None:
        function = _parse(
            "my_ops::f.out(Tensor a, int b, float? c, int[]? d, Tensor? e, str? f, Scalar g, *, Tensor(a!) out) -> "
            "Tensor(a!)"
        )
        self.assertEqual(
            [signatures.unboxed(argument) for argument in function.arguments],
            [
                ("const Tensor&", "to<Tensor>()"),
                ("const int64_t", "to<int64_t>()"),
                ("const std::optional<double>", "toOptional<double>()"),
                ("const std::optional<ArrayRef<int64_t>>", "toOptional<ArrayRef<int64_t>>()"),
                ("const std::optional<Tensor>", "toOptional<Tensor>()"),
                ("const std::optional<std::string_view>", "toOptional<std::string_view>()"),
                ("const Scalar", "to<Scalar>()"),
                ("Tensor&", "to<Tensor>()"),
            ],
        )

    def test_a_generator_is_an_empty_optional(self) -> None:
        """Tests that a kernel takes the generator that no program has, and that an operator needs no other."""
        function = _parse(_MULTINOMIAL)
        location = Location("ops.yaml", 1)
        self.assertEqual(
            signatures.unboxed(function.arguments[3]), ("const std::optional<int64_t>", "toOptional<int64_t>()")
        )
        self.assertEqual(signatures.unsupported(function, location), [])
        self.assertEqual(len(signatures.unsupported(function, location, Dialect.ATEN)), 1)
        needed = _parse("my_ops::f.out(Generator g, *, Tensor(a!) out) -> Tensor(a!)")
        self.assertEqual(len(signatures.unsupported(needed, location)), 1)


if __name__ == "__main__":
    absltest.main()
