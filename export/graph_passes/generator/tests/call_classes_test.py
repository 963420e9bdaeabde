"""Tests of the classes of calls that are written: what they have of a schema, and schemas that are refused."""

import ast

from absl.testing import absltest, parameterized

from codegen.model import schema
from diagnostics.errors import Location
from export.graph_passes.generator import call_classes
from export.graph_passes.generator.own_operators import OwnOperator


def _schema(text: str) -> schema.FunctionSchema:
    return schema.parse(text, lambda offset: Location("schemas.txt", 1, offset + 1))


def _fields(module: str) -> dict[str, dict[str, str]]:
    """The fields of each class, as they are written."""
    classes = [one for one in ast.parse(module).body if isinstance(one, ast.ClassDef)]
    return {
        one.name: {
            ast.unparse(field.target): ast.unparse(field).partition(": ")[2]
            for field in one.body
            if isinstance(field, ast.AnnAssign) and not ast.unparse(field.annotation).startswith("ClassVar")
        }
        for one in classes
    }


def _dim_orders(module: str) -> dict[str, dict[str, str]]:
    """The constant DIM_ORDERS of each class that has one."""
    return {
        one.name: ast.literal_eval(field.value)
        for one in ast.parse(module).body
        if isinstance(one, ast.ClassDef)
        for field in one.body
        if isinstance(field, ast.AnnAssign) and field.value and ast.unparse(field.target) == "DIM_ORDERS"
    }


class CallClassesTest(parameterized.TestCase):
    def test_fields(self) -> None:
        pool = _schema(
            "aten::pool(Tensor self, int[2] size, int[2] stride=[], int[2] padding=0, Scalar? from=None, *,"
            " ScalarType? dtype=None, MemoryFormat format=contiguous_format) -> Tensor"
        )
        self.assertEqual(
            _fields(call_classes.module([], [pool])),
            {
                "Pool": {
                    "input": "T = field(metadata={'name': 'self'})",
                    "size": "tuple[int, ...] = field(metadata={'size': 2})",
                    "stride": "tuple[int, ...] = field(default=(), metadata={'size': 2})",
                    "padding": "tuple[int, ...] = field(default=(0, 0), metadata={'size': 2})",
                    "from_": "float | T | None = field(default=None, metadata={'name': 'from'})",
                    "dtype": "torch.dtype | None = field(default=None, kw_only=True)",
                    "format": "torch.memory_format = field(default=torch.contiguous_format, kw_only=True)",
                }
            },
        )

    def test_lists(self) -> None:
        put = _schema("aten::put_(Tensor(a!) self, Tensor?[] indices, SymInt[] size, float x=1.5) -> Tensor(a!)")
        fields = _fields(call_classes.module([], [put]))["PutInPlace"]
        self.assertEqual(fields["indices"], "tuple[T | None, ...]")
        self.assertEqual(fields["size"], "tuple[int | T, ...]")
        self.assertEqual(fields["x"], "float = 1.5")

    def test_own_operators(self) -> None:
        own = _schema("own::norm.out(Tensor input, str mode='none', *, Tensor(a!) out) -> Tensor(a!)")
        declared = OwnOperator(own, {"input": "any", "out": "like input"})
        module = call_classes.module([declared], [_schema("aten::norm(Tensor self) -> Tensor")])
        self.assertEqual(list(_fields(module)), ["OwnNorm", "Norm"])
        self.assertIn("SCHEMA: ClassVar[str] = \"norm(Tensor input, str mode='none') -> Tensor\"", module)
        self.assertIn("norm.out(Tensor input, str mode='none', *, Tensor(a!) out) -> Tensor(a!)", module)
        self.assertIn('"own::norm": OwnNorm,', module)
        self.assertEqual(_dim_orders(module), {"OwnNorm": {"input": "any", "out": "like input"}})

    def test_dim_orders_have_the_names_of_fields(self) -> None:
        own = _schema("own::f.out(Tensor self, Tensor? from, *, Tensor(a!) out) -> Tensor(a!)")
        declared = OwnOperator(own, {"self": "any", "from": "contiguous", "out": "like self"})
        orders = _dim_orders(call_classes.module([declared], []))
        self.assertEqual(orders, {"F": {"input": "any", "from_": "contiguous", "out": "like input"}})

    @parameterized.parameters(
        ("aten::f(Tensor a, Generator g) -> Tensor", "no Python type is known for Generator"),
        ("aten::f(Tensor a, int x=Mean) -> Tensor", "the default Mean of x is not understood"),
        ("aten::f(int x=1, int y) -> Tensor", "an argument without a default follows one with a default"),
        ("aten::f(Tensor self, Tensor input) -> Tensor", "an argument cannot have the name input"),
        ("aten::f(Tensor a, int insert) -> Tensor", "an argument cannot have the name insert"),
        ("aten::f(Tensor DIM_ORDERS) -> Tensor", "an argument cannot have the name DIM_ORDERS"),
    )
    def test_refuses(self, text: str, message: str) -> None:
        with self.assertRaisesRegex(call_classes.SchemaError, message) as raised:
            call_classes.module([], [_schema(text)])
        self.assertIn(text, str(raised.exception))

    def test_refuses_two_operators_of_one_class(self) -> None:
        schemas = [_schema("aten::add.Tensor(Tensor a) -> Tensor"), _schema("aten::add_Tensor(Tensor a) -> Tensor")]
        with self.assertRaisesRegex(call_classes.SchemaError, "another operator has the class AddTensor"):
            call_classes.module([], schemas)

    def test_refuses_own_operators_without_an_out_variant(self) -> None:
        with self.assertRaisesRegex(call_classes.SchemaError, "has an out variant that gives its tensors"):
            call_classes.module([OwnOperator(_schema("own::f(Tensor a) -> Tensor"), {"a": "any"})], [])


if __name__ == "__main__":
    absltest.main()
