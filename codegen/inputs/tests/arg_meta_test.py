from __future__ import annotations

from absl.testing import absltest

from codegen.inputs import functions_yaml
from codegen.tests import case

_ADD = "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"


class ArgMetaTest(case.TestCase):
    def _keys(self, schema: str, arg_meta: str, aliases: str = "{}", orders: str = "{}") -> list[str]:
        """The keys of a kernel with `arg_meta`."""
        path = self.write(
            "custom.yaml",
            f"- func: {schema}\n  type_alias: {aliases}\n  dim_order_alias: {orders}\n"
            f"  kernels:\n  - kernel_name: a::kernel\n    arg_meta: {arg_meta}\n",
        )
        (operator,) = functions_yaml.read(None, path, max_kernels=2000).values()
        return list(operator.kernels[0].keys)

    def _finding(self, schema: str, arg_meta: str, aliases: str = "{}", orders: str = "{}") -> str:
        return self.finding(lambda: self._keys(schema, arg_meta, aliases, orders))

    # The expected keys follow ExecuTorch's operator_registry.h: v1/<dtype>;<dim order>|..., for every tensor among a
    # call's values, in the order of the schema, and once more for what is returned.

    def test_order_of_the_schema_and_returned_slot(self) -> None:
        keys = self._keys(f"a::{_ADD}", "{out: [Double, [0]], other: [Int, [1, 0]], self: [Float, []]}")
        self.assertEqual(keys, ["v1/6;|3;1,0|7;0|7;0"])

    def test_nothing_returned(self) -> None:
        keys = self._keys("a::b_(Tensor(a!) x, Tensor y) -> ()", "{x: [Float, [0]], y: [Half, []]}")
        self.assertEqual(keys, ["v1/6;0|5;"])

    def test_aliases(self) -> None:
        keys = self._keys(
            f"a::{_ADD}",
            "{self: [T0, D0], other: [T0, D0], out: [T1, D0]}",
            "{T0: [Half, BFloat16], T1: [Float], Unused: [Bool]}",
            "{D0: [[0, 1, 2, 3], [0, 2, 3, 1]]}",
        )
        self.assertEqual(
            keys,
            [
                f"v1/{dtype};{order}|{dtype};{order}|6;{order}|6;{order}"
                for dtype in (5, 15)
                for order in ("0,1,2,3", "0,2,3,1")
            ],
        )

    def test_flat_dim_order(self) -> None:
        meta = "{self: [T0, D0], other: [T0, D0], out: [T0, D0]}"
        nested, flat = (
            self._keys(f"a::{_ADD}", meta, "{T0: [Float]}", f"{{D0: {orders}}}") for orders in ("[[0, 1]]", "[0, 1]")
        )
        self.assertEqual(nested, flat)

    def test_inline_alternatives_vary_by_argument(self) -> None:
        keys = self._keys(
            "a::b.out(Tensor x, Tensor y, *, Tensor(a!) out) -> Tensor(a!)",
            "{x: [[Float, Half], [0]], y: [[Float, Half], [0]], out: [Float, [0]]}",
        )
        self.assertEqual(len(set(keys)), 4)
        self.assertIn("v1/6;0|5;0|6;0|6;0", keys)

    def test_every_dtype(self) -> None:
        # The numbers of ExecuTorch's scalar_type.h.
        for name, number in {
            "Bool": 11,
            "QInt8": 12,
            "BFloat16": 15,
            "Half": 5,
            "UInt16": 27,
            "ComplexDouble": 10,
        }.items():
            self.assertEqual(
                self._keys("a::b_(Tensor(a!) self) -> Tensor(a!)", f"{{self: [{name}, []]}}"),
                [f"v1/{number};|{number};"],
            )

    def test_values_that_no_key_tells_of(self) -> None:
        schema = (
            "a::b.out(Tensor x, Tensor[] list, Tensor?[] gaps, int i, Tensor? y, *, Tensor(a!) out, Tensor(b!) more)"
        )
        meta = "{x: [Float, [0]], out: [Long, [0]], more: [Bool, [0]]}"
        # Two out arguments are returned as a list.
        returns = " -> (Tensor(a!), Tensor(b!))"
        self.assertEqual(self._keys(schema + returns, meta), ["v1/6;0|4;0|11;0"])
        self.assertEqual(
            self._keys(schema + returns, meta.replace("out", "y: [Byte, [0]], out")), ["v1/6;0|0;0|4;0|11;0"]
        )
        self.assertEqual(self._keys("a::count(Tensor x) -> int", "{x: [Float, [0]]}"), ["v1/6;0"])

    def test_wrong_arguments(self) -> None:
        schema = f"a::{_ADD}"
        most = "{self: [Float, []], other: [Float, []], out: "
        value = 15 + len(most)
        for out, column, expected, id_ in (
            ("[Float, []], slef: [Float, []]", value + 13, "'slef' of 'arg_meta' is no argument of a::add.out; did", 1),
            ("[Float, []], alpha: [Float, []]", value + 13, "'alpha' of 'arg_meta' is a Scalar of a::add.out\n", 1),
            ("Float", value, "'out' of 'arg_meta' is 'Float', not a dtype and a dim order\n", 1),
            ("[Float]", value, "'out' of 'arg_meta' is a list of 1, not a dtype and a dim order\n", 1),
            ("[T0, []]", value + 1, "undefined alias 'T0' for 'out'\n", 0),
            ("[Float, D0]", value + 8, "undefined alias 'D0' for 'out'\n", 0),
            ("[[Flaot], []]", value + 2, "expected a dtype or a list of dtypes, found 'Flaot'; did you mean Float", 2),
            ("[Float, [1]]", value + 8, "expected a dim order or a list of dim orders, found [1]\n", 3),
            ("[Float, [0, 2]]", value + 8, "expected a dim order or a list of dim orders, found [0, 2]\n", 3),
        ):
            with self.subTest(out):
                finding = self._finding(schema, most + out + "}")
                self.assert_starts_with(finding, f"custom.yaml:6:{column}: error: {expected}")
                self.assert_id(finding, ("bad-alias", "bad-arg-meta", "unknown-dtype", "bad-dim-order")[id_])
        finding = self._finding(schema, "{self: [Float, []], out: [Float, []]}")
        self.assert_starts_with(
            finding, "custom.yaml:6:15: error: 'arg_meta' leaves out the tensor 'other' of a::add.out\n"
        )
        self.assert_id(finding, "bad-arg-meta")
        finding = self._finding(schema, "[self]")
        self.assert_starts_with(finding, "custom.yaml:6:15: error: 'arg_meta' is a list, not a mapping\n")

    def test_wrong_aliases(self) -> None:
        schema, meta = "a::b_(Tensor(a!) self) -> Tensor(a!)", "{self: [Float, []]}"
        for aliases, orders, expected in (
            ("[T0]", "{}", "2:15: error: 'type_alias' is a list, not a mapping"),
            ("{T0: []}", "{}", "2:20: error: expected a dtype or a list of dtypes, found an empty list"),
            ("{T0: [float32]}", "{}", "2:21: error: expected a dtype or a list of dtypes, found 'float32'"),
            ("{Float: [Half]}", "{}", "2:23: error: the alias 'Float' has the name of a dtype"),
            ("{}", "{D0: 0}", "3:25: error: expected a dim order or a list of dim orders, found '0'"),
            ("{}", "{D0: [[0, 1], [1, 1]]}", "3:34: error: expected a dim order or a list of dim orders, found [1, 1]"),
        ):
            with self.subTest(aliases + orders):
                self.assert_starts_with(self._finding(schema, meta, aliases, orders), f"custom.yaml:{expected}")

    def test_returned_tensor_that_no_argument_tells_of(self) -> None:
        finding = self._finding("a::b(Tensor self) -> Tensor", "{self: [Float, []]}")
        self.assertIn("a kernel for certain dtypes or dim orders, but a::b returns a new tensor\n", finding)

    def test_limits(self) -> None:
        arguments = [f"Tensor x{i}" for i in range(40)]
        schema = f"a::b({', '.join(arguments)}) -> int"
        long = self._finding(schema, "{" + ", ".join(f"x{i}: [Float, [0,1,2,3,4,5,6,7]]" for i in range(40)) + "}")
        self.assertIn(
            "a kernel key of a::b has 722 characters, and ExecuTorch's runtime makes keys of at most 658", long
        )
        self.assert_id(long, "long-kernel-key")
        many = self._finding(schema, "{" + ", ".join(f"x{i}: [[Float, Half], []]" for i in range(40)) + "}")
        self.assertIn("a kernel of a::b stands for more than 2000 combinations of dtypes and dim orders\n", many)
        self.assert_id(many, "too-many-combinations")


if __name__ == "__main__":
    absltest.main()
