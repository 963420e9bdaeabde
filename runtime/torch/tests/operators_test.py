"""Tests of the operators of a library for PyTorch: results, fakes and failures."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from absl.testing import absltest
from torch._subclasses.fake_tensor import FakeTensorMode

_OWN = torch.library.Library("bridge", "FRAGMENT")
_OWN.define("own(Tensor x) -> Tensor")
_OWN.impl("own", lambda x: x + 1000, "CPU")

import codegen.tests.all_types.custom_ops_generated  # noqa: E402, F401

import runtime.torch.tests.custom_ops_both  # noqa: E402
import runtime.torch.tests.custom_ops_bridge  # noqa: E402
import runtime.torch.tests.custom_ops_selected  # noqa: E402
import runtime.torch.tests.stubs  # noqa: E402, F401

ops = torch.ops.bridge
types = torch.ops.types


class EagerTest(absltest.TestCase):
    def test_schemas(self) -> None:
        self.assertEqual(str(ops.scale.default._schema), "bridge::scale(Tensor x, Scalar by) -> Tensor")
        self.assertEqual(
            str(ops.scale.out._schema), "bridge::scale.out(Tensor x, Scalar by, *, Tensor(a!) out) -> Tensor(a!)"
        )
        self.assertEqual(str(ops.largest.default._schema), "bridge::largest(Tensor x, int dim=-1) -> (Tensor, Tensor)")
        self.assertEqual(ops.add_.overloads(), ["default"])
        self.assertEqual(types.split.overloads(), ["out"])

    def test_several_results_of_other_dtypes_and_dimensions(self) -> None:
        x = torch.randn(2, 3, 4)
        values, indices = ops.largest(x)
        expected = x.max(-1)
        torch.testing.assert_close(values, expected.values, rtol=0, atol=0)
        torch.testing.assert_close(indices, expected.indices, rtol=0, atol=0)

    def test_out_of_any_shape_and_layout(self) -> None:
        x = torch.randn(2, 3)
        for out in (torch.empty(0), torch.empty(2, 3), torch.empty(3, 2).t(), torch.empty(2, 6)[:, ::2]):
            before = out._version
            self.assertIs(ops.scale.out(x, 2, out=out), out)
            torch.testing.assert_close(out, x * 2, rtol=0, atol=0)
            self.assertGreater(out._version, before)
        values, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
        ops.largest.out(x, values=values, indices=indices)
        torch.testing.assert_close((values, indices), tuple(x.max(-1)), rtol=0, atol=0)

    def test_layouts(self) -> None:
        x = torch.randn(2, 3, 4, 5)
        for given in (x, x.to(memory_format=torch.channels_last), x.transpose(1, 3), x[:, :, ::2], x[:0]):
            torch.testing.assert_close(ops.scale(given, 2), given * 2, rtol=0, atol=0)
        last = x.to(memory_format=torch.channels_last)
        self.assertEqual(ops.scale(last, 2).stride(), last.stride())

    def test_mutation(self) -> None:
        x = torch.zeros(2, 3)
        self.assertIs(ops.add_(x, 2.0), x)
        ops.add_(x.t(), 0.5)
        torch.testing.assert_close(x, torch.full((2, 3), 2.5))
        self.assertEqual(x._version, 2)

    def test_kernel_for_dtype(self) -> None:
        torch.testing.assert_close(ops.kind(torch.zeros(2)), torch.full((2,), 0.5))
        torch.testing.assert_close(ops.kind(torch.zeros(2, dtype=torch.int64)), torch.full((2,), 7))
        with self.assertRaisesRegex(RuntimeError, r"bridge::kind .*no kernel for these dtypes and dim orders"):
            ops.kind(torch.zeros(2, dtype=torch.int32))

    def test_dtype_that_the_kernel_accepts(self) -> None:
        torch.testing.assert_close(ops.is_even(torch.arange(3)), torch.tensor([True, False, True]))

    def test_kernel_that_checks_its_dimensions_first(self) -> None:
        for x in (torch.randn(3), torch.randn(3, 4), torch.randn(2, 3, 4)):
            torch.testing.assert_close(ops.first(x), x[0], rtol=0, atol=0)

    def test_kernel_that_checks_its_result(self) -> None:
        x = torch.randn(2, 3)
        torch.testing.assert_close(ops.checked(x), -x)

    def test_kernel_with_tensors_of_pytorch(self) -> None:
        x = torch.randn(2, 3, 4)
        torch.testing.assert_close(torch.ops.both.scale(x, 2), x * 2, rtol=0, atol=0)
        torch.testing.assert_close(torch.ops.both.scale(x.double(), 2), x.double() * 2, rtol=0, atol=0)
        torch.testing.assert_close(torch.ops.both.largest(x, 1), tuple(x.max(1)), rtol=0, atol=0)
        out = torch.empty(0)
        torch.testing.assert_close(torch.ops.both.scale.out(x, 2, out=out), x * 2, rtol=0, atol=0)

    def test_hand_written_functional_stays(self) -> None:
        torch.testing.assert_close(ops.own(torch.zeros(2)), torch.full((2,), 1000.0))
        torch.testing.assert_close(ops.own.out(torch.ones(2), out=torch.empty(2)), torch.full((2,), -1.0))

    def test_functional_that_comes_too_late(self) -> None:
        with self.assertRaisesRegex(
            RuntimeError,
            r"registered at //runtime/torch/tests:custom_ops_bridge, which derives the operator from bridge::scale.out "
            r"\(custom_ops_functional_variants = False leaves it out\), custom_ops.yaml:3$",
        ):
            _OWN.define("scale(Tensor x, Scalar by) -> Tensor")

    def test_every_kind_of_value(self) -> None:
        """Tests the arguments that kernels receive, as in //codegen/tests/all_types."""

        def filled(value: float) -> torch.Tensor:
            return torch.full((16,), value, dtype=torch.float64)

        def start(out: torch.Tensor, *expected: float) -> None:
            self.assertEqual(out[: len(expected)].tolist(), list(expected))

        two, three, out = filled(2), filled(3), filled(0)
        list_, gaps = [two, three], [three, None]
        start(types.tensors.out(two, None, list_, None, gaps, None, out=out), 2, -1, 5, -1, 1003, -1)
        start(types.tensors.out(two, three, list_, list_, gaps, [None], out=out), 2, 3, 5, 5, 1003, 1000)
        start(
            types.numbers.out(0.5, 5, 5, 6, 6, 5, 0.5, 0.5, True, False, True, False, out=out),
            *(0.5, 5, 5, 6, 6, 5, 0.5, 0.5, 1, 0, 1, 0),
        )
        start(
            types.numbers.out(5, None, 6, None, 5, None, 0.5, None, False, None, False, None, out=out),
            *(5, -1, 6, -1, 5, -1, 0.5, -1, 0, -1, 0, -1),
        )
        ints, floats, bools = [1, 2], [0.25, 0.5], [True, False, True]
        start(
            types.lists.out(ints, ints, None, ints, None, floats, None, bools, bools, None, bools, None, out=out),
            *(3, 3, -1, 3, -1, 0.75, -1, 2, 2, -1, 2, -1),
        )
        start(
            types.lists.out([], ints, [], [], ints, [], [], [], bools, [], [], bools, out=out),
            *(0, 3, 0, 0, 3, 0, 0, 0, 2, 0, 0, 2),
        )
        formats = (torch.float32, None, torch.contiguous_format, None, torch.strided, None, torch.device("cpu"), None)
        start(types.names.out("abcd", None, *formats, out=out), 4, -1, 6, -1, 0, -1, 0, -1, 0, -1)
        first, second = filled(0), filled(0)
        types.two.out(filled(10), first=first, second=second)
        start(first, 11)
        start(second, 12)
        types.split.out(filled(10), out=[first, second])
        start(first, 10)
        start(second, 10)
        self.assertEqual(types.count(two), 16)
        self.assertEqual(types.sym_count(two), 16)
        self.assertEqual(types.first(two), 2.0)
        self.assertFalse(types.is_empty(two))
        self.assertFalse(types.sym_is_empty(two))
        self.assertEqual(types.largest(two), 2.0)
        start(types.increment_(two, 2.5), 4.5)
        types.double_(two)
        start(two, 9)
        types.add_to_all_([two, three], 1)
        start(two, 10)
        start(three, 4)
        same = types.same(three)
        torch.testing.assert_close(same, three)
        self.assertNotEqual(same.data_ptr(), three.data_ptr())


class FakeTest(absltest.TestCase):
    def test_is_like_the_real_one(self) -> None:
        calls: dict[str, Callable[[torch.Tensor], object]] = {
            "scale": lambda x: ops.scale(x, 2.0),
            "several": ops.largest,
            "lists": lambda x: ops.join([x, x], [x, None], [1.0, 2.0], [12], [True, True], "sum", None),
            "checked": ops.checked,
            "kernel with tensors of PyTorch": torch.ops.both.largest,
            "dimensions": ops.first,
            "dtype": lambda x: ops.is_even(ops.largest(x)[1]),
            "layout": lambda x: ops.scale(x.reshape(1, 2, 2, 3).to(memory_format=torch.channels_last), 2.0),
            "mutation": lambda x: ops.add_(x.clone(), 2.0),
            "out": lambda x: ops.scale.out(x, 2.0, out=torch.empty(4, 3)),
        }
        for name, call in calls.items():
            x = torch.randn(4, 3)
            with FakeTensorMode() as mode:
                fake = call(mode.from_tensor(x))
            with self.subTest(name):
                self.assertEqual(self._properties(fake), self._properties(call(x)))

    def _properties(self, results: object) -> list[object]:
        tensors = results if isinstance(results, tuple) else (results,)
        return [(tensor.shape, tensor.dtype, tensor.stride()) for tensor in tensors]

    def test_opcheck(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for operator, inputs in (
                (ops.largest.default, (torch.randn(2, 3),)),
                (ops.scale.default, (torch.randn(2, 3), 2.0)),
            ):
                results = torch.library.opcheck(operator, inputs)
                self.assertEqual(set(results.values()), {"SUCCESS"}, operator)

    def test_size_that_is_to_stay_open(self) -> None:
        class Model(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return ops.scale(x, 2.0)

        def export() -> torch.export.ExportedProgram:
            return torch.export.export(Model(), (torch.randn(4, 3),), dynamic_shapes=({0: torch.export.Dim("n")},))

        with self.assertRaisesRegex(Exception, "specialized it to be a constant"):
            export()
        torch.library.register_fake("bridge::scale", lambda x, by: torch.empty_like(x), allow_override=True)
        (result,) = export().graph.find_nodes(op="call_function", target=ops.scale.default)
        self.assertIsInstance(result.meta["val"].shape[0], torch.SymInt)


class FailureTest(absltest.TestCase):
    def assert_fails(self, pattern: str, call: Callable[[], object]) -> None:
        with self.assertRaisesRegex(RuntimeError, f"(?s){pattern}.*\n  Likely cause: .*\n  Fix: "):
            call()

    def test_refused(self) -> None:
        self.assert_fails(
            r"bridge::scale \(custom_ops.yaml:3\): the kernel of bridge::scale.out refused the call, "
            r"Error::InvalidArgument: kernels.cpp:\d+: Check failed",
            lambda: ops.scale(torch.zeros(2, dtype=torch.int64), 2),
        )

    def test_aborting(self) -> None:
        self.assert_fails("floats only", lambda: ops.checked(torch.zeros(2, dtype=torch.int64)))

    def test_result_of_unknown_shape(self) -> None:
        self.assert_fails(
            r"bridge::careless \(custom_ops.yaml:\d+\): the kernel of bridge::careless.out takes results of any shape",
            lambda: ops.careless(torch.zeros(2)),
        )

    def test_fake_of_unknown_shape(self) -> None:
        torch.testing.assert_close(ops.positive(torch.tensor([-1.0, 2.0])), torch.tensor([2.0]))
        self.assert_fails(
            r"bridge::positive \(.*\): the shape of what it returns depends on the values of its arguments",
            lambda: ops.positive(torch.zeros(2, device="meta")),
        )

    def test_no_kernel(self) -> None:
        calls: list[Callable[..., object]] = [
            torch.ops.stubs.scale,
            lambda x, by: torch.ops.stubs.scale.out(x, by, out=x),
        ]
        for call in calls:
            with self.assertRaisesRegex(NotImplementedError, r"stubs::scale.* \(stubs.yaml:1\): it has no kernel"):
                call(torch.zeros(2), 2)

    def test_fake_of_a_number(self) -> None:
        self.assert_fails(
            r"bridge::count \(.*\): it returns int, which is not known without the values",
            lambda: ops.count(torch.zeros(2, device="meta")),
        )
        with self.assertRaisesRegex(RuntimeError, r'Fix: .*register_fake\("bridge::count", allow_override=True\)'):
            ops.count(torch.zeros(2, device="meta"))

    def test_undeclared_mutation(self) -> None:
        self.assert_fails(
            r"bridge::sneaky \(.*\): the kernel of bridge::sneaky.out writes to 'x', which is not declared",
            lambda: ops.sneaky(torch.zeros(2, device="meta")),
        )

    def test_values_that_the_runtime_does_not_have(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "bridge::scale: 'x' is Sparse"):
            ops.scale(torch.zeros(2, 2).to_sparse(), 2)
        with self.assertRaisesRegex(RuntimeError, "bridge::scale: 'by' is a Complex"):
            ops.scale(torch.zeros(2), 2j)


if __name__ == "__main__":
    absltest.main()
