"""Tests of the reader of own_custom_ops.yaml: what it reads, and declarations that it refuses."""

from absl.testing import absltest, parameterized

from export.graph_passes.generator import dim_order_checks, own_operators

_NORM = "- func: own::norm.out(Tensor input, Tensor? weight, int dims, *, Tensor(a!) out) -> Tensor(a!)\n"
_KERNELS = "  kernels:\n    - arg_meta: null\n      kernel_name: a::norm_out\n"


class _DeclarationTest(parameterized.TestCase):
    def _read(self, text: str) -> list[own_operators.OwnOperator]:
        return own_operators.read(self.create_tempfile("own.yaml", text).full_path)

    def _norm(self, orders: str) -> list[own_operators.OwnOperator]:
        return self._read(f"{_NORM}  dim_orders: {{{orders}}}\n{_KERNELS}")


class OwnOperatorsTest(_DeclarationTest):
    def test_reads(self) -> None:
        norm, copy = self._read(
            f"{_NORM}  dim_orders: {{weight: contiguous, input: channels_last, out: like input}}\n{_KERNELS}"
            "- func: own::copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
            "  dim_orders:\n    self: any\n    out: contiguous\n"
        )
        self.assertEqual(str(norm.schema), _NORM[len("- func: ") : -1])
        self.assertEqual(
            list(norm.dim_orders.items()), [("input", "channels_last"), ("weight", "contiguous"), ("out", "like input")]
        )
        self.assertEqual(copy.dim_orders, {"self": "any", "out": "contiguous"})

    def test_reads_several_results(self) -> None:
        results = "Tensor(a!) out, Tensor(b!) last) -> (Tensor(a!), Tensor(b!))"
        text = f"- func: own::f.out(Tensor x, *, {results}\n  dim_orders: {{x: any, out: contiguous, last: like x}}\n"
        (one,) = self._read(text)
        self.assertEqual(one.dim_orders, {"x": "any", "out": "contiguous", "last": "like x"})
        with self.assertRaisesRegex(own_operators.DeclarationError, "but last is not a tensor that each call has"):
            self._read(text.replace("out: contiguous", "out: like last"))

    @parameterized.parameters(
        ("input: any, weight: any, out: any, dims: any", "'dim_orders' has dims, which is not a tensor of the schema"),
        ("input: any, weight: any, out: any, inputs: any", "'dim_orders' has inputs, which is not a tensor of the"),
        ("input: any, weight: any", "'dim_orders' does not have the tensor out"),
        ("input: any, out: any", "'dim_orders' does not have the tensor weight"),
        ("input: nchw, weight: any, out: any", "'dim_orders' has 'nchw' for input, not contiguous, channels_last, any"),
        ("input: [any], weight: any, out: any", "'dim_orders' has '' for input, not contiguous, channels_last, any or"),
        ("input: any, weight: any, out: like dims", "'like dims' for out, but dims is not a tensor that each call has"),
        ("input: any, weight: any, out: like weight", "but weight is not a tensor that each call has"),
        ("input: like out, weight: any, out: any", "but out is not a tensor that each call has, with an order of its"),
        ("input: like input, weight: any, out: any", "but input is not a tensor that each call has, with an order of"),
    )
    def test_refuses(self, orders: str, message: str) -> None:
        with self.assertRaisesRegex(own_operators.DeclarationError, message) as raised:
            self._norm(orders)
        self.assertRegex(str(raised.exception), r"own\.yaml:1:9: own::norm\.out")

    def test_refuses_an_operator_without_dim_orders(self) -> None:
        for orders in ("", "  dim_orders: contiguous\n"):
            with self.assertRaisesRegex(own_operators.DeclarationError, "own::norm.out has no 'dim_orders', a mapping"):
                self._read(_NORM + orders + _KERNELS)

    def test_refuses_an_entry_without_a_schema(self) -> None:
        for text in ("- op: add.out\n", "- norm\n"):
            with self.assertRaisesRegex(own_operators.DeclarationError, "own.yaml: an entry has no schema as 'func'"):
                self._read(text)


class DimOrderChecksTest(_DeclarationTest):
    def _header(self, orders: str) -> str:
        return dim_order_checks.header(self._norm(orders))

    def test_checks(self) -> None:
        header = self._header("input: any, weight: contiguous, out: like input")
        signature = (
            "bool norm_dim_orders_fit(const Tensor& input, const std::optional<Tensor>& weight, const Tensor& out)"
        )
        self.assertIn(signature, header)
        self.assertIn("!weight.has_value() || is_contiguous(*weight)", header)
        self.assertIn("have_same_dim_order(out, input)", header)
        self.assertIn('"norm.out: expected weight in contiguous order, got another dim order"', header)
        self.assertIn('"norm.out: expected out in the dim order of input, got another dim order"', header)
        self.assertEqual(header.count("ET_CHECK_OR_RETURN_FALSE"), 2)

    def test_tensors_of_any_order_are_not_read(self) -> None:
        header = self._header("input: channels_last, weight: any, out: any")
        self.assertIn("(const Tensor& input, const std::optional<Tensor>& /*weight*/, const Tensor& /*out*/)", header)
        self.assertIn("is_channels_last(input)", header)

    def test_an_operator_that_takes_all_orders_has_no_check(self) -> None:
        self.assertNotIn("norm", self._header("input: any, weight: any, out: any"))


if __name__ == "__main__":
    absltest.main()
