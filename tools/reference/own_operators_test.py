"""Tests of the table of our own operators."""

from absl.testing import absltest

from tools.reference import own_operators

_OPERATOR = "- func: own::norm.out(Tensor input, int dims=1, *, Tensor(a!) out) -> Tensor(a!)\n"


class OwnOperatorsTest(absltest.TestCase):
    def test_page(self) -> None:
        page, yaml = ((own_operators.ROOT / path).read_text() for path in (own_operators.PAGE, own_operators.YAML))
        update = "update it: tools/bazel run //tools/reference:own_operators"
        self.assertEqual(page, own_operators.updated(page, yaml), update)

    def test_row(self) -> None:
        table = own_operators.table("# A norm.\n# Dtypes: int8, bool.\n" + _OPERATOR)
        self.assertEqual(table.splitlines()[2], "| `own::norm.out(Tensor input, int dims=1)` | A norm | int8, bool |")

    def test_keyword_arguments(self) -> None:
        schema = "- func: own::f.out(Tensor a, *, float? scale=None, Tensor(a!) out) -> Tensor(a!)\n"
        row = own_operators.table("# A norm.\n# Dtypes: all.\n" + schema).splitlines()[2]
        self.assertEqual(row, "| `own::f.out(Tensor a, *, float? scale=None)` | A norm | all |")

    def test_an_operator_without_text(self) -> None:
        with self.assertRaisesRegex(ValueError, "above each schema of kernels/optimized/own_custom_ops.yaml stand"):
            own_operators.table("# A norm.\n" + _OPERATOR)


if __name__ == "__main__":
    absltest.main()
