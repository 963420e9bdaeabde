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

    def _assert_refused(
        self, expected: str, schema: str, arg_meta: str, aliases: str = "{}", orders: str = "{}"
    ) -> None:
        self.assert_refused(lambda: self._keys(schema, arg_meta, aliases, orders), expected)

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
        for out, id_, column in (
            ("[Float, []], slef: [Float, []]", "bad-arg-meta", value + 13),
            ("[Float, []], alpha: [Float, []]", "bad-arg-meta", value + 13),
            ("Float", "bad-arg-meta", value),
            ("[Float]", "bad-arg-meta", value),
            ("[T0, []]", "bad-alias", value + 1),
            ("[Float, D0]", "bad-alias", value + 8),
            ("[[Flaot], []]", "unknown-dtype", value + 2),
            ("[Float, [1]]", "bad-dim-order", value + 8),
            ("[Float, [0, 2]]", "bad-dim-order", value + 8),
        ):
            with self.subTest(out):
                self._assert_refused(f"{id_} custom.yaml:6:{column}", schema, most + out + "}")
        self._assert_refused("bad-arg-meta custom.yaml:6:15", schema, "{self: [Float, []], out: [Float, []]}")
        self._assert_refused("wrong-yaml-type custom.yaml:6:15", schema, "[self]")

    def test_wrong_aliases(self) -> None:
        schema, meta = "a::b_(Tensor(a!) self) -> Tensor(a!)", "{self: [Float, []]}"
        for aliases, orders, expected in (
            ("[T0]", "{}", "wrong-yaml-type custom.yaml:2:15"),
            ("{T0: []}", "{}", "unknown-dtype custom.yaml:2:20"),
            ("{T0: [float32]}", "{}", "unknown-dtype custom.yaml:2:21"),
            ("{Float: [Half]}", "{}", "bad-alias custom.yaml:2:23"),
            ("{}", "{D0: 0}", "bad-dim-order custom.yaml:3:25"),
            ("{}", "{D0: [[0, 1], [1, 1]]}", "bad-dim-order custom.yaml:3:34"),
        ):
            with self.subTest(aliases + orders):
                self._assert_refused(expected, schema, meta, aliases, orders)

    def test_returned_tensor_that_no_argument_tells_of(self) -> None:
        self._assert_refused("bad-arg-meta custom.yaml:6:15", "a::b(Tensor self) -> Tensor", "{self: [Float, []]}")

    def test_limits(self) -> None:
        arguments = [f"Tensor x{i}" for i in range(40)]
        schema = f"a::b({', '.join(arguments)}) -> int"
        for id_, tensor in (
            ("long-kernel-key", "[Float, [0,1,2,3,4,5,6,7]]"),
            ("too-many-combinations", "[[Float, Half], []]"),
        ):
            meta = ", ".join(f"x{i}: {tensor}" for i in range(40))
            self._assert_refused(f"{id_} custom.yaml:6:15", schema, f"{{{meta}}}")


if __name__ == "__main__":
    absltest.main()
