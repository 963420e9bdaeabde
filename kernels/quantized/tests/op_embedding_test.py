"""Tests of op_embedding_*.cpp: embeddings with weights of 8, 4 and 2 bits."""

from typing import NamedTuple

import torch
from absl.testing import absltest

from kernels.quantized.tests import quantized_case
from kernels.testing import op_tester

_OPS = torch.ops.quantized_decomposed
_SCALE_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


class _Embedding(NamedTuple):
    """The operators of an embedding with weights of `bits` bits, without and with a dtype argument."""

    out: str
    dtype_out: str
    bits: int


_BYTE = _Embedding("quantized_decomposed::embedding_byte.out", "quantized_decomposed::embedding_byte.dtype_out", 8)
_PACKED = (
    _Embedding("quantized_decomposed::embedding_4bit.out", "quantized_decomposed::embedding_4bit.dtype_out", 4),
    _Embedding("quantized_decomposed::embedding_2bit.out", "quantized_decomposed::embedding_2bit.dtype_out", 2),
)
_ALL = (_BYTE, *_PACKED)


def _pack(weight: torch.Tensor, bits: int) -> torch.Tensor:
    """Packs signed weights of `bits` bits into bytes, as ExecuTorch's exporter does."""
    if bits == 8:
        return weight
    unsigned = (weight + (1 << (bits - 1))).to(torch.uint8).reshape(weight.shape[0], -1, 8 // bits)
    # The first of two 4-bit weights is in the upper half, the first of four 2-bit weights in the lowest bits.
    shifts = (4, 0) if bits == 4 else (0, 2, 4, 6)
    packed = torch.zeros_like(unsigned[:, :, 0])
    for i, shift in enumerate(shifts):
        packed |= unsigned[:, :, i] << shift
    return packed


def _make_weight(rows: int, width: int, bits: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(rows + width + bits)
    limit = 1 << (bits - 1)
    return torch.randint(-limit, limit, (rows, width), generator=generator).to(torch.int8)


def _make_parameters(rows: int, groups: int | None, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    shape = (rows,) if groups is None else (rows, groups)
    scales = torch.linspace(0.02, 0.9, torch.empty(shape).numel()).reshape(shape).to(dtype)
    return scales, (torch.arange(scales.numel()) % 5 - 2).reshape(shape).to(dtype)


def _no_reference(*args: object) -> torch.Tensor:
    raise NotImplementedError(f"no reference for {args}")


class OpEmbeddingTest(quantized_case.QuantizedCase):
    def check(
        self,
        embedding: _Embedding,
        weight: torch.Tensor,
        scales: torch.Tensor,
        zero_points: torch.Tensor | None,
        indices: torch.Tensor,
        *,
        out_dtype: torch.dtype | None = None,
        packed: torch.Tensor | None = None,
        out_dim_order: tuple[int, ...] | None = None,
    ) -> None:
        """Compares both overloads with PyTorch's dequantization of the weights before packing."""
        limit = 1 << (embedding.bits - 1)
        groups = scales.shape[1] if scales.dim() == 2 else 1
        # Computed in Float, because PyTorch rounds to the scales' dtype after each step, the kernel rounds once.
        rows = _OPS.dequantize_per_channel_group.default(
            weight,
            scales.float(),
            None if zero_points is None else zero_points.float(),
            -limit,
            limit - 1,
            weight.dtype,
            max(weight.shape[1] // groups, 2),
            torch.float32,
        )
        if packed is None:
            packed = _pack(weight, embedding.bits)
        args = (packed, scales, zero_points, -limit, limit - 1, indices)
        options = {"exact": True, "static": out_dim_order is not None, "out_dim_order": out_dim_order}

        def reference(*args: object) -> torch.Tensor:
            dtype = args[6] if len(args) > 6 else scales.dtype
            assert isinstance(dtype, torch.dtype)
            return torch.nn.functional.embedding(indices.long(), rows).to(dtype)

        if out_dtype is None:
            self.quantized_op(embedding.out, reference).check(*args, **options)
        else:
            tester = self.quantized_op(embedding.dtype_out, reference)
            tester.check(*args, out_dtype, **options)
            expected = [reference(*args, out_dtype)]
            actual = tester.run(*args, None, outs=expected)
            torch.testing.assert_close(actual, expected, rtol=0, atol=0)

    def test_widths_and_groups(self) -> None:
        for embedding in _ALL:
            for width in (4, 8, 32, 300, 1024):
                weight = _make_weight(9, width, embedding.bits)
                for groups in (None, 1, 2, width // 4):
                    scales, zero_points = _make_parameters(9, groups, torch.float32)
                    for given in (zero_points, None):
                        self.check(embedding, weight, scales, given, torch.tensor([[8, 0, 3], [3, 7, 7]]))

    def test_dtypes(self) -> None:
        for embedding in _ALL:
            weight = _make_weight(9, 16, embedding.bits)
            for scale_dtype in _SCALE_DTYPES:
                scales, zero_points = _make_parameters(9, 4, scale_dtype)
                for indices in (torch.tensor([1, 8]), torch.tensor([5, 0, 2], dtype=torch.int32)):
                    self.check(embedding, weight, scales, zero_points, indices)
                    for out_dtype in op_tester.FLOAT_DTYPES:
                        self.check(embedding, weight, scales, zero_points, indices, out_dtype=out_dtype)
        weight = torch.arange(256).to(torch.uint8).reshape(8, 32)
        self.check(_BYTE, weight, *_make_parameters(8, 2, torch.float32), torch.tensor([7, 0, 4]))

    def test_every_byte(self) -> None:
        for embedding in _PACKED:
            count = 1 << embedding.bits
            values = torch.cartesian_prod(*[torch.arange(count) - count // 2] * (8 // embedding.bits))
            weight = values.reshape(16, -1).to(torch.int8)
            self.check(embedding, weight, *_make_parameters(16, None, torch.float32), torch.arange(16))

    def test_indices_and_dim_orders(self) -> None:
        for embedding in _ALL:
            weight = _make_weight(10, 8, embedding.bits)
            packed = _pack(weight, embedding.bits)
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    indices = op_tester.make_tensor(shape, torch.int64, dim_order=order, low=0, high=9)
                    for weight_order in op_tester.dim_orders(2):
                        scales, zero_points = (
                            op_tester.with_dim_order(values, weight_order)
                            for values in _make_parameters(10, 2, torch.float32)
                        )
                        self.check(
                            embedding,
                            weight,
                            scales,
                            zero_points,
                            indices,
                            packed=op_tester.with_dim_order(packed, weight_order),
                            out_dim_order=(len(shape), *order),
                        )

    def test_threads(self) -> None:
        for embedding in _ALL:
            weight = _pack(_make_weight(50, 96, embedding.bits), embedding.bits)
            indices = torch.arange(1777) * 7 % 50
            tester = self.quantized_op(embedding.out, _no_reference)
            limit = 1 << (embedding.bits - 1)
            parameters = (*_make_parameters(50, 3, torch.float32), -limit, limit - 1)
            tester.check_threads(weight, *parameters, indices, outs=[torch.empty(1777, 96)])

    def test_rejected(self) -> None:
        out = torch.empty((2, 16))
        half_out, int_out = out.half(), out.int()
        indices = torch.tensor([0, 3])
        scales, zero_points = _make_parameters(4, 2, torch.float32)
        for embedding in _ALL:
            weight = _pack(_make_weight(4, 16, embedding.bits), embedding.bits)
            calls = [(weight, scales, zero_points, torch.tensor([0, i])) for i in (4, -1, (1 << 63) - 1, -1 << 63)]
            calls += [(weight, scales, zero_points, indices.to(d)) for d in (torch.float32, torch.bool, torch.int16)]
            calls += [(weight.to(d), scales, zero_points, indices) for d in (torch.int32, torch.float32, torch.bool)]
            calls += [(weight, *_make_parameters(rows, 2, torch.float32), indices) for rows in (3, 5)]
            calls += [(weight, *_make_parameters(4, groups, torch.float32), indices) for groups in (0, 3, 32)]
            calls += [(weight, scales, bad, indices) for bad in (zero_points[:, :1].clone(), zero_points.half())]
            calls.append((weight[0], scales, zero_points, indices))
            calls.append((weight, scales[None], zero_points[None], indices))
            tester = self.quantized_op(embedding.out, _no_reference)
            for weight_, scales_, zero_points_, indices_ in calls:
                tester.check_rejected(weight_, scales_, zero_points_, -8, 7, indices_, outs=[out])
            tester.check_rejected(weight, scales.int(), None, -8, 7, indices, outs=[int_out])
            tester.check_rejected(weight, scales.double(), None, -8, 7, indices, outs=[out.double()])
            args = (weight, scales, zero_points, -8, 7, indices)
            tester.check_rejected(*args, outs=[half_out])
            tester.check_rejected(*args, outs=[torch.empty((1, 8))])
            with_dtype = self.quantized_op(embedding.dtype_out, _no_reference)
            with_dtype.check_rejected(*args, dtype=torch.float16, outs=[out])
            with_dtype.check_rejected(*args, dtype=torch.int32, outs=[int_out])
            with_dtype.check_rejected(*args, outs=[int_out])
        for embedding in _PACKED:
            tester = self.quantized_op(embedding.out, _no_reference)
            weight = torch.zeros((4, 2), dtype=torch.int8)
            outs = [torch.empty((1, 16 // embedding.bits))]
            tester.check_rejected(weight, torch.ones(4), None, -8, 7, torch.tensor([0]), outs=outs)


if __name__ == "__main__":
    absltest.main()
