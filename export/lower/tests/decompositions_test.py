"""Tests that the decompositions of an export give the results of the operators, bit by bit."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from absl.testing import absltest
from executorch.exir import EdgeCompileConfig
from torch import Tensor
from torch._ops import OpOverload

from export.lower import repeated_work
from export.lower.complex_numbers import COMPLEX_DECOMPOSITIONS
from export.lower.decompositions import DECOMPOSITIONS
from export.patches import more_decompositions

_aten = torch.ops.aten
_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_WHOLE = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
_INF, _NAN = float("inf"), float("nan")
# Numbers, zeros of both signs, infinities, NaNs, the smallest and the largest floats, and halves that `round` rounds.
_NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.5, -3.5, 0.125, 7.0, 1e-40, -6e-8, 65504.0, -3e38, _INF, -_INF, _NAN, -_NAN)


def _values(dtype: torch.dtype) -> Tensor:
    if dtype == torch.bool:
        return torch.tensor([True, False])
    if not dtype.is_floating_point:
        limits = torch.iinfo(dtype)
        return torch.tensor([limits.min, limits.max, 0, 1, 2, 5, 9], dtype=dtype)
    return torch.tensor(_NUMBERS, dtype=torch.float64).to(dtype)


def _pairs(one: torch.dtype, other: torch.dtype) -> tuple[Tensor, Tensor]:
    """All pairs of values."""
    return _values(one)[:, None], _values(other)[None]


def _flat(result: Tensor | Sequence[Tensor]) -> Sequence[Tensor]:
    return [result] if isinstance(result, Tensor) else result


def _bits(values: Tensor, *, signed_zeros: bool = True) -> Tensor:
    """The bits of values, with one NaN and, if zeros have no sign, one zero."""
    if values.is_floating_point():
        values = torch.where(values.isnan(), torch.full_like(values, _NAN), values)
    if not signed_zeros:
        values = torch.where(values == 0, torch.zeros_like(values), values)
    return values.reshape(-1, 1).contiguous().view(torch.uint8)


class _Copysign(torch.nn.Module):
    def forward(self, one: Tensor, other: Tensor) -> Tensor:
        return torch.copysign(one, other)


class _Empty(torch.nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        last = torch.empty(x.shape, dtype=torch.float16, memory_format=torch.channels_last)
        return torch.empty_like(x), last, x.new_empty(3, 2)


class _FlatAttention(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        heads = x.unflatten(2, (4, 4)).transpose(1, 2)
        result = torch.nn.functional.scaled_dot_product_attention(heads, heads, heads)
        x.add_(1)
        return result.transpose(1, 2).flatten()


class _Renorm(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.renorm(x, 2, 0, 1.5)


class DecompositionsTest(absltest.TestCase):
    tested: ClassVar[set[OpOverload]] = set()

    @classmethod
    def tearDownClass(cls) -> None:
        super().tearDownClass()
        missing = [str(one) for one in DECOMPOSITIONS if one not in cls.tested | COMPLEX_DECOMPOSITIONS.keys()]
        if missing:
            raise AssertionError(f"no test compares {', '.join(missing)}")

    def check(
        self, operator: OpOverload, *given: Any, rtol: float = 0.0, signed_zeros: bool = True, **options: Any
    ) -> None:
        """Compares a decomposition with its operator.

        Args:
            operator: the operator.
            given: the positional arguments.
            rtol: the relative tolerance; 0: the results have the same bits.
            signed_zeros: whether the signs of zeros are compared.
            options: the keyword arguments.
        """
        with self.subTest(str(operator), given=given, **options):
            self.tested.add(operator)
            expected, found = operator(*given, **options), DECOMPOSITIONS[operator](*given, **options)
            for one, other in zip(_flat(expected), _flat(found), strict=True):
                self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
                if rtol:
                    torch.testing.assert_close(other, one, rtol=rtol, atol=rtol, equal_nan=True)
                else:
                    bits = [_bits(each, signed_zeros=signed_zeros) for each in (one, other)]
                    self.assertTrue(torch.equal(*bits), f"{other}, not {one}")

    def test_signs(self) -> None:
        for dtype in (*_FLOATS, *_WHOLE, torch.bool):
            self.check(_aten.signbit.default, _values(dtype))
            self.check(_aten.copysign.Scalar, _values(dtype), -0.0)
            self.check(_aten.copysign.Scalar, _values(dtype), 3)
        for one, other in itertools.product((torch.float32, torch.float16, torch.int32, torch.bool), repeat=2):
            self.check(_aten.copysign.Tensor, *_pairs(one, other))
        for dtype in _FLOATS:
            self.check(_aten.copysign.Tensor, *_pairs(dtype, dtype))

    def test_extremes(self) -> None:
        for operator in (_aten.fmax.default, _aten.fmin.default):
            for dtype in (*_FLOATS, *_WHOLE, torch.bool):
                one, other = _pairs(dtype, dtype)
                # Of zeros of both signs, PyTorch returns the first or the second, depending on the dtype.
                self.check(operator, one, other, signed_zeros=False)
            self.check(operator, *_pairs(torch.float32, torch.int64))
            self.check(operator, *_pairs(torch.int8, torch.float16))

    def test_random_numbers(self) -> None:
        """Compares the frequencies of random numbers, with bounds that one run of ten million exceeds."""
        shares = torch.tensor([0.0, 0.2, 0.7, 1.0]).expand(50_000, 4)
        for operator, probability in ((_aten.bernoulli.Tensor, shares), (_aten.bernoulli.p, 0.3)):
            for dtype in (torch.float32, torch.float16, torch.int32):
                self.tested.add(operator)
                found = DECOMPOSITIONS[operator](torch.empty(50_000, 4, dtype=dtype), probability)
                self.assertEqual((found.dtype, found.shape), (dtype, (50_000, 4)))
                self.assertTrue(((found == 0) | (found == 1)).all())
                wanted = torch.as_tensor(probability).expand(50_000, 4)[0].double()
                bounds = 5.5 * (wanted * (1 - wanted) / 50_000).sqrt()
                self.assertTrue(((found.double().mean(0) - wanted).abs() <= bounds).all())

    def test_shifts(self) -> None:
        for dtype, by in itertools.product(_WHOLE, (0, 1, 3, 9, 31)):
            self.check(_aten.__lshift__.Scalar, _values(dtype), by)
            self.check(_aten.__rshift__.Scalar, _values(dtype), by)
        for dtype in _WHOLE:
            self.check(_aten.__lshift__.Tensor, *_pairs(dtype, dtype))
            self.check(_aten.__rshift__.Tensor, *_pairs(dtype, dtype))
            for number in (-5, 0, 3):
                for shift in (_aten.bitwise_left_shift.Scalar_Tensor, _aten.bitwise_right_shift.Scalar_Tensor):
                    self.check(shift, number, _values(dtype))

    def test_remainders(self) -> None:
        for dtype in (*_FLOATS, *_WHOLE):
            values = _values(dtype)
            for number in (5, -3, 2.5, _INF):
                self.check(_aten.remainder.Scalar_Tensor, number, values[values != 0])
        self.check(_aten.remainder.Scalar_Tensor, 5.0, _values(torch.float32))

    def test_products(self) -> None:
        torch.manual_seed(0)
        for dtype in (torch.float32, torch.float64, torch.int64):
            vector, matrix, batches = (torch.randn(size).mul(9).to(dtype) for size in ((4,), (4, 4), (3, 4, 4)))
            for beta, alpha in ((1, 1), (0, 2), (3, 0)):
                for bias in (vector, vector[:1], vector[0]):
                    self.check(_aten.addmv.default, bias, matrix, vector, rtol=1e-5, beta=beta, alpha=alpha)
                for bias in (matrix, vector, vector[0]):
                    self.check(_aten.addbmm.default, bias, batches, batches, rtol=1e-5, beta=beta, alpha=alpha)
        nan = torch.full((4,), _NAN)
        self.check(_aten.addmv.default, nan, torch.ones(4, 4), torch.ones(4), beta=0)
        self.check(_aten.addmv.default, nan, torch.ones(4, 0), torch.ones(0))
        self.check(_aten.addmv.default, torch.ones(4), torch.ones(4, 0), torch.ones(0), beta=3)
        self.check(_aten.addbmm.default, nan, torch.ones(2, 4, 4), torch.ones(2, 4, 4), beta=0)
        self.check(_aten.addbmm.default, nan, torch.ones(0, 4, 4), torch.ones(0, 4, 4))

    def test_distances(self) -> None:
        one, other = torch.randn(3, 4), torch.randn(4)
        for norm in (0, 1, 2, 3.5, _INF, -_INF):
            self.check(_aten.dist.default, one, other, norm, rtol=1e-6)
        self.check(_aten.dist.default, _values(torch.float32), _values(torch.float32))

    def test_ldexp(self) -> None:
        for dtype in _FLOATS:
            self.check(_aten.ldexp.Tensor, *_pairs(dtype, torch.int32))
            self.check(_aten.ldexp.Tensor, *_pairs(dtype, dtype))
            self.check(_aten.ldexp.Tensor, _values(dtype), torch.tensor(-3))
        self.check(_aten.ldexp.Tensor, *_pairs(torch.int32, torch.int16))
        torch.manual_seed(0)
        for dtype, smallest, largest in ((torch.float32, -149, 127), (torch.float64, -1074, 1023)):
            x = torch.exp2(torch.empty(2000, dtype=torch.float64).uniform_(smallest, largest)).to(dtype)
            for integer in (torch.int16, torch.int32, torch.int64):
                self.check(_aten.ldexp.Tensor, x, torch.randint(2 * smallest, 2 * largest, (2000,), dtype=integer))

    def test_exp2(self) -> None:
        for dtype, rtol in ((torch.float32, 1e-6), (torch.float64, 1e-14), (torch.float16, 1e-3), (torch.int32, 1e-6)):
            self.check(_aten.exp2.default, _values(dtype), rtol=rtol)

    def test_put(self) -> None:
        x, source = torch.randn(3, 4), torch.randn(2, 2)
        index = torch.tensor([[0, -1], [5, 3]])
        self.check(_aten.put.default, x, index, source)
        self.check(_aten.put.default, x, index, source, True)
        self.check(_aten.put.default, x, torch.tensor([1, 1, 1]), torch.ones(3), True)
        self.check(_aten.put.default, x.to(torch.int8), torch.tensor(2), torch.tensor(7, dtype=torch.int8))

    def test_scatter(self) -> None:
        x, index = torch.randn(3, 4), torch.tensor([[0, 2], [1, 1]])
        for reduce in ("add", "multiply"):
            for dtype in (torch.float32, torch.int64):
                values = (x * 3).to(dtype)
                self.check(_aten.scatter.reduce, values, 0, index, values[1:, 1:], reduce=reduce)
                self.check(_aten.scatter.value_reduce, values, 1, index, 3, reduce=reduce)
            self.check(_aten.scatter.value_reduce, x, 1, index, 2.5, reduce=reduce)

    def test_norms_of_words(self) -> None:
        weight = torch.randn(6, 4) * torch.tensor([0.1, 1, 0, 5, 2, 3])[:, None]
        for norm in (1.0, 2.0, _INF):
            self.check(_aten.embedding_renorm.default, weight, torch.tensor([[0, 2], [3, 3]]), 1.0, norm, rtol=1e-6)
        self.check(_aten.embedding_renorm.default, weight, torch.tensor([], dtype=torch.int64), 1.0, 2.0)

    def test_checked_matrices(self) -> None:
        torch.manual_seed(0)
        matrix, side = torch.randn(2, 4, 4), torch.randn(2, 4, 3)
        positive = matrix @ matrix.mT + torch.eye(4)
        for operator, *given in (
            (_aten.inverse.default, matrix),
            (_aten.linalg_inv.default, matrix),
            (_aten.linalg_cholesky.default, positive),
            (_aten.linalg_lu_factor.default, matrix),
            (_aten.linalg_solve.default, matrix, side),
        ):
            self.check(operator, *given)
            with self.assertRaises(RuntimeError):
                DECOMPOSITIONS[operator](torch.zeros(2, 4, 4), *given[1:])
        self.check(_aten.linalg_cholesky.default, positive, upper=True)
        self.check(_aten.linalg_tensorinv.default, torch.randn(6, 2, 3), 1)
        self.check(_aten.linalg_tensorinv.default, torch.randn(4, 2, 2, 4, 1))
        self.check(_aten.linalg_solve.default, matrix, side.mT, left=False)

    def test_pseudo_inverse(self) -> None:
        torch.manual_seed(0)
        pinv = _aten.linalg_pinv.atol_rtol_tensor
        for dtype, shape in itertools.product((torch.float32, torch.float64), ((4, 4), (2, 3, 5), (5, 2))):
            matrix = torch.randn(shape, dtype=dtype)
            self.check(pinv, matrix, rtol=1e-4)
            for atol in (torch.tensor(0.0, dtype=dtype), torch.tensor(0.7, dtype=dtype)):
                self.check(pinv, matrix, rtol=1e-4, atol=atol)
            self.check(pinv, matrix @ matrix.mT, rtol=1e-3, hermitian=True)
        self.check(pinv, torch.ones(3, 2), rtol=1e-6)

    def test_round(self) -> None:
        for dtype, decimals in itertools.product(_FLOATS, (0, 1, 2, -1, -3)):
            self.check(_aten.round.decimals, _values(dtype), decimals=decimals)
            self.check(_aten.round.decimals, torch.randn(100).mul(50).to(dtype), decimals=decimals)

    def test_rrelu(self) -> None:
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            x = _values(dtype)
            self.check(_aten.rrelu_with_noise_functional.default, x, torch.zeros_like(x))
            self.check(_aten.rrelu_with_noise_functional.default, x, torch.zeros_like(x), 0.1, 0.7)

    def test_indices_of_triangles(self) -> None:
        for rows, columns, offset in itertools.product((0, 1, 3, 6), (0, 2, 5), (-7, -2, 0, 1, 4)):
            for operator in (_aten.tril_indices.default, _aten.triu_indices.default):
                self.check(operator, rows, columns, offset, device=torch.device("cpu"), pin_memory=False)

    def test_memory(self) -> None:
        for operator, given in (
            (_aten.empty_permuted.default, ([2, 3, 4], [2, 0, 1])),
            (_aten.empty_permuted.default, ([], [])),
            (_aten.empty_strided.default, ([2, 3], [3, 1])),
            (_aten.empty_strided.default, ([2, 3, 4], [4, 8, 1])),
        ):
            with self.subTest(str(operator), given=given):
                self.tested.add(operator)
                found = DECOMPOSITIONS[operator](*given, dtype=torch.int32)
                expected = operator(*given, dtype=torch.int32)
                self.assertEqual(
                    (found.dtype, found.shape, found.stride()), (expected.dtype, expected.shape, expected.stride())
                )

    def test_written_diagonals(self) -> None:
        for shape, offset, dims in (
            ((4, 4), 0, (0, 1)),
            ((3, 5), -1, (0, 1)),
            ((2, 4, 3), 1, (1, -1)),
            ((2, 0), 0, (0, 1)),
        ):
            x = torch.randn(shape)
            source = torch.randn(x.diagonal(offset, *dims).shape)
            self.check(_aten.diagonal_scatter.default, x, source, offset, *dims)
        self.check(_aten.diagonal_scatter.default, torch.randn(4, 2, 3, 4), torch.randn(2, 3, 3), -1, 3, 0)

    def test_written_strides(self) -> None:
        x = torch.randn(3, 4)
        for size, stride, offset in (((2, 3), (4, 1), 1), ((3,), (5,), None), ((), (), 7), ((2, 2), (1, 6), 0)):
            self.check(_aten.as_strided_scatter.default, x, torch.randn(size), size, stride, offset)

    def test_batch_norm_of_training(self) -> None:
        x, mean, variance = torch.randn(4, 3, 5), torch.randn(3), torch.rand(3)
        for affine in ((None, None), (torch.randn(3), torch.randn(3))):
            self.check(
                *(_aten._native_batch_norm_legit_functional.default, x, *affine, mean, variance, True, 0.1, 1e-5),
                rtol=1e-5,
            )

    def test_embedding_bag(self) -> None:
        weight, index, offsets = torch.randn(5, 3), torch.tensor([1, 4, 0, 2]), torch.tensor([0, 1, 1])
        for mode in range(3):
            self.check(_aten._embedding_bag_forward_only.default, weight, index, offsets, False, mode)
        self.tested.add(_aten._embedding_bag.default)
        bag = DECOMPOSITIONS[_aten._embedding_bag.default]
        self.assertIs(bag(weight, index, offsets), NotImplemented)
        found = bag(weight.bfloat16(), index, offsets)
        self.assertTrue(found[0].equal(_aten._embedding_bag(weight.bfloat16(), index, offsets)[0]))
        of_meta = _aten._embedding_bag(*(one.to("meta") for one in (weight.bfloat16(), index, offsets)))
        self.assertEqual(found[1].shape, of_meta[1].shape)

    def test_trilinear(self) -> None:
        operator = _aten._trilinear.default
        one, weight, three = torch.randn(3, 4), torch.randn(2, 4, 5), torch.randn(3, 5)
        for dtype in (torch.float32, torch.float64):
            given = [x.to(dtype) for x in (one, weight, three)]
            self.check(operator, *given, [1, 3], [0], [1, 2], [2, 3], rtol=1e-5)
            self.check(operator, *given, [1, 3], [0], [1, 2], [1, 3], rtol=1e-5)
        self.check(operator, one, one, one, [], [], [], [0], rtol=1e-5)
        self.check(operator, one, one.T, one, [2], [0], [2], [], rtol=1e-5)

    def test_attention(self) -> None:
        operator = _aten._scaled_dot_product_flash_attention_for_cpu.default
        self.tested.add(operator)
        for first in itertools.permutations(range(3)):
            order = [*first, 3]
            sizes = [(2, 4, 5, 8)[dim] for dim in order]
            query, key, value = (torch.randn(sizes).permute([order.index(dim) for dim in range(4)]) for _ in range(3))
            mask = torch.randn(2, 1, 5, 5)
            for options in ({}, {"is_causal": True}, {"attn_mask": mask, "scale": 0.3}):
                with self.subTest(order=order, **options):
                    (expected, _), (found, _) = (
                        one(query, key, value, 0.0, **options) for one in (operator, DECOMPOSITIONS[operator])
                    )
                    torch.testing.assert_close(found, expected)
                    self.assertEqual(found.stride(), query.stride())

    def test_view_of_attention(self) -> None:
        x = torch.randn(2, 5, 16)
        exported = torch.export.export(_FlatAttention(), (x,)).run_decompositions({})
        with more_decompositions.added(DECOMPOSITIONS):
            lowered = repeated_work.to_edge({"forward": exported}, EdgeCompileConfig(_check_ir_validity=False))
        found: Tensor = lowered.exported_program().module()(x.clone())
        torch.testing.assert_close(found, _FlatAttention()(x.clone()))

    def test_training_keeps_the_operator(self) -> None:
        x = torch.ones(2)
        self.assertIs(DECOMPOSITIONS[_aten.rrelu_with_noise_functional.default](x, x, 0.1, 0.2, True), NotImplemented)

    def test_normal_functional(self) -> None:
        self.tested.add(_aten.normal_functional.default)
        x = torch.zeros(3, 4, dtype=torch.float64)
        torch.manual_seed(3)
        wanted = torch.randn(3, 4, dtype=torch.float64) * 2 + 1
        torch.manual_seed(3)
        torch.testing.assert_close(DECOMPOSITIONS[_aten.normal_functional.default](x, 1.0, 2.0), wanted)

    def test_memory_of_open_sizes(self) -> None:
        self.tested.add(_aten.empty.memory_format)
        x = torch.ones(3, 4, 2, 2)
        exported = torch.export.export(_Empty(), (x,), dynamic_shapes=({0: torch.export.Dim("n", max=9)},))
        with more_decompositions.added(DECOMPOSITIONS):
            edge = repeated_work.to_edge({"forward": exported}, EdgeCompileConfig(_check_ir_validity=False))
        lowered = edge.exported_program()
        plain, last, known = (node.meta["val"] for node in lowered.graph.output_node().all_input_nodes)
        self.assertEqual([isinstance(one.shape[0], torch.SymInt) for one in (plain, last, known)], [True, True, False])
        self.assertEqual((last.dtype, last.dim_order()), (torch.float16, (0, 2, 3, 1)))
        calls = [str(node.target) for node in lowered.graph.nodes if "empty" in str(node.target)]
        self.assertEqual(len(calls), 1, calls)

    def test_dtypes_in_decompositions(self) -> None:
        self.check(torch.ops.prims.convert_element_type.default, _values(torch.float32), torch.float16)
        exported = torch.export.export(_Renorm(), (torch.ones(3, 4, dtype=torch.float16),))
        with more_decompositions.added(DECOMPOSITIONS):
            edge = repeated_work.to_edge({"forward": exported}, EdgeCompileConfig(_check_ir_validity=False))
        self.assertNotIn("prims", edge.exported_program().graph_module.code)

    def test_lowering_uses_the_table(self) -> None:
        x = torch.ones(2)
        exported = torch.export.export(_Copysign(), (x, x))
        config = EdgeCompileConfig(_check_ir_validity=False)
        with more_decompositions.added(DECOMPOSITIONS):
            edge = repeated_work.to_edge({"forward": exported}, config)
            preserving = EdgeCompileConfig(_check_ir_validity=False, preserve_ops=[_aten.copysign.Tensor])
            preserved = repeated_work.to_edge({"forward": exported}, preserving)
        self.assertNotIn("copysign", edge.exported_program().graph_module.code)
        self.assertIn("copysign", preserved.exported_program().graph_module.code)
        self.assertIn(
            "copysign", repeated_work.to_edge({"forward": exported}, config).exported_program().graph_module.code
        )


if __name__ == "__main__":
    absltest.main()
