"""Tests of the table of our own operators."""

from absl.testing import absltest

from tools.reference import own_operators

_SCHEMA = "- func: own::norm.out(Tensor input, int dims=1, *, Tensor(a!) out) -> Tensor(a!)\n"
_OPERATOR = f"{_SCHEMA}  dim_orders: {{input: any, out: contiguous}}\n"


class OwnOperatorsTest(absltest.TestCase):
    def test_page(self) -> None:
        page, yaml = ((own_operators.ROOT / path).read_text() for path in (own_operators.PAGE, own_operators.YAML))
        update = "update it: tools/bazel run //tools/reference:own_operators"
        self.assertEqual(page, own_operators.updated(page, yaml), update)

    def test_row(self) -> None:
        table = own_operators.table("# A norm.\n# Dtypes: int8, bool.\n" + _OPERATOR)
        row = "| `own::norm.out(Tensor input, int dims=1)` | A norm | int8, bool | `input: any` |"
        self.assertEqual(table.splitlines()[2], row)

    def test_several_results(self) -> None:
        schema = "- func: own::f.out(Tensor a, *, Tensor(a!) out, Tensor(b!) last) -> (Tensor(a!), Tensor(b!))\n"
        orders = "  dim_orders: {a: any, out: contiguous, last: any}\n"
        row = own_operators.table("# A sum.\n# Dtypes: all.\n" + schema + orders).splitlines()[2]
        self.assertEqual(row, "| `own::f.out(Tensor a)` | A sum | all | `a: any`, `last: any` |")

    def test_keyword_arguments(self) -> None:
        schema = "- func: own::f.out(Tensor a, *, float? scale=None, Tensor(a!) out) -> Tensor(a!)\n"
        orders = "  dim_orders: {a: channels_last, out: like a}\n"
        row = own_operators.table("# A norm.\n# Dtypes: all.\n" + schema + orders).splitlines()[2]
        expected = "| `own::f.out(Tensor a, *, float? scale=None)` | A norm | all | `a: channels_last`, `out: like a` |"
        self.assertEqual(row, expected)

    def test_an_operator_without_text(self) -> None:
        with self.assertRaisesRegex(ValueError, "above each schema of kernels/optimized/own_custom_ops.yaml stand"):
            own_operators.table("# A norm.\n" + _OPERATOR)

    def test_an_operator_without_dim_orders(self) -> None:
        with self.assertRaisesRegex(ValueError, "below it stands one: 'dim_orders"):
            own_operators.table("# A norm.\n# Dtypes: all.\n" + _SCHEMA)


if __name__ == "__main__":
    absltest.main()
