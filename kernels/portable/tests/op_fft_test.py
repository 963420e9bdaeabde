"""Tests of the Fourier transforms: _fft_c2c.out, _fft_c2r.out, _fft_r2c.out."""

import itertools
import math
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

_DTYPES = (torch.float32, torch.float64)
# Products of small factors, lengths with a large prime factor, and long lines.
_LENGTHS = (*range(1, 68), 97, 124, 128, 134, 210, 256, 331, 400, 512, 997, 1000, 1024, 1994)
# The lines of calls: one, a part of a vector, and several vectors with a part.
_LINES = (slice(0, 1), slice(1, 4), slice(4, 42))
# The root of the mean square of the errors, relative to that of the results, in units of eps * log2(length).
_LARGEST_ERROR = 1.0


def _random(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(sum(shape)))


def _transform(x: torch.Tensor, *, forward: bool = True) -> torch.Tensor:
    """The transform along the last dimension by its definition, in double."""
    n = x.shape[-1]
    index = torch.arange(n)
    angles = (index[:, None] * index % n).double() * (-2 * math.pi / n if forward else 2 * math.pi / n)
    return x.to(torch.complex128) @ torch.polar(torch.ones_like(angles), angles)


def _whole(half: torch.Tensor, length: int) -> torch.Tensor:
    """The transform of `length` real numbers, of which the first half is given."""
    whole = torch.cat([half, half[..., 1 : (length + 1) // 2].flip(-1).conj()], -1)
    for real in {0, length // 2} if length % 2 == 0 else {0}:
        whole[..., real] = whole[..., real].real.clone()
    return whole


def _parts(x: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(x) if x.is_complex() else x


class OpFftTest(op_tester.OpTest):
    def _check_accuracy(self, name: str, x: torch.Tensor, arguments: tuple[Any, ...], expected: torch.Tensor) -> None:
        dtype = x.dtype.to_complex() if expected.is_complex() else x.dtype.to_real()
        (result,) = self.op(f"aten::{name}.out").run(x, [x.dim() - 1], 0, *arguments, outs=[expected.to(dtype)])
        self.assertEqual(result.shape, expected.shape)
        error = (_parts(result).double() - _parts(expected)).square().mean().sqrt().item()
        size = _parts(expected).square().mean().sqrt().item()
        length = max(x.shape[-1], expected.shape[-1])
        limit = _LARGEST_ERROR * torch.finfo(dtype).eps * max(math.log2(length), 1)
        self.assertLessEqual(error, limit * size, f"{name} of {length} elements, {tuple(x.shape)}, {x.dtype}")

    def test_lengths(self) -> None:
        for dtype, n in itertools.product(_DTYPES, _LENGTHS):
            x, z = _random((42, n), dtype), _random((42, n), dtype.to_complex())
            half = z[:, : n // 2 + 1].contiguous()
            spectrum, forth, back = _transform(x), _transform(z), _transform(z, forward=False)
            real = _transform(_whole(half.to(torch.complex128), n), forward=False).real.contiguous()
            for lines in _LINES:
                self._check_accuracy("_fft_c2c", z[lines], (True,), forth[lines])
                self._check_accuracy("_fft_c2c", z[lines], (False,), back[lines])
                self._check_accuracy("_fft_r2c", x[lines], (False,), spectrum[lines])
                self._check_accuracy("_fft_r2c", x[lines], (True,), spectrum[lines, : n // 2 + 1].contiguous())
                self._check_accuracy("_fft_c2r", half[lines], (n,), real[lines])

    def test_long_lines(self) -> None:
        """Tests lines that are too long for several in the cache, against PyTorch's transform in double."""
        for n in (10007, 2 * 10007, 30000, 2**16):
            z = _random((3, n), torch.complex64)
            self._check_accuracy("_fft_c2c", z, (True,), torch.fft.fft(z.to(torch.complex128)))
            x = _random((3, n), torch.float32)
            self._check_accuracy("_fft_r2c", x, (True,), torch.fft.rfft(x.double()))
            half = z[:, : n // 2 + 1].contiguous()
            self._check_accuracy("_fft_c2r", half, (n,), torch.fft.irfft(half.to(torch.complex128), n, norm="forward"))

    def test_dims_and_orders(self) -> None:
        c2c, c2r, r2c = (self.op(f"aten::_fft_{kind}.out") for kind in ("c2c", "c2r", "r2c"))
        shape = (3, 4, 5, 6)
        for dtype in _DTYPES:
            tolerance = {"rtol": 1e-5, "atol": 1e-4} if dtype == torch.float32 else {"rtol": 1e-13, "atol": 1e-12}
            for dims in ([0], [1], [3], [2, 3], [3, 1], [0, 2], [1, 0, 3], [0, 1, 2, 3]):
                for order in op_tester.dim_orders(4):
                    x = op_tester.make_tensor(shape, dtype, dim_order=order)
                    z = op_tester.make_tensor(shape, dtype.to_complex(), dim_order=order)
                    out = {"out_dim_order": order, "static": True, **tolerance}
                    for flag in (True, False):
                        c2c.check(z, dims, 0, flag, **tolerance)
                        r2c.check(x, dims, 0, flag, **tolerance)
                    c2c.check(z, dims, 1, True, **out)
                    r2c.check(x, dims, 1, True, **out)
                    for size in (2 * shape[dims[-1]] - 1, 2 * shape[dims[-1]] - 2):
                        c2r.check(z, dims, 0, size, **tolerance)
                    c2r.check(z, dims, 2, 2 * shape[dims[-1]] - 2, **out)

    def test_many_lines_side_by_side(self) -> None:
        """Tests dimensions whose lines are next to each other in memory, a part of a vector and several vectors."""
        c2c, c2r, r2c = (self.op(f"aten::_fft_{kind}.out") for kind in ("c2c", "c2r", "r2c"))
        for dtype, (n, columns) in itertools.product(_DTYPES, ((2, 1), (2, 16), (8, 33), (9, 64), (37, 40))):
            x, z = _random((n, columns), dtype), _random((n, columns), dtype.to_complex())
            half = z[: n // 2 + 1].contiguous()
            for order in op_tester.dim_orders(2):
                how = {"out_dim_order": order, "static": True, "rtol": 1e-4, "atol": 1e-4}
                c2c.check(op_tester.with_dim_order(z, order), [0], 0, False, **how)
                r2c.check(op_tester.with_dim_order(x, order), [0], 0, True, **how)
                r2c.check(op_tester.with_dim_order(x, order), [0], 0, False, **how)
                c2r.check(op_tester.with_dim_order(half, order), [0], 0, n, **how)

    def test_normalizations(self) -> None:
        x, z = _random((3, 10, 12), torch.float64), _random((3, 10, 12), torch.complex128)
        for normalization, dims in itertools.product((0, 1, 2, 3, -1, 2**32 + 1), ([2], [1, 2])):
            self.op("aten::_fft_r2c.out").check(x, dims, normalization, True)
            self.op("aten::_fft_c2c.out").check(z, dims, normalization, True)
            self.op("aten::_fft_c2c.out").check(z, dims, normalization, False)
            for size in (22, 23):
                self.op("aten::_fft_c2r.out").check(z, dims, normalization, size)

    def test_without_dims_and_elements(self) -> None:
        self.op("aten::_fft_c2c.out").check(_random((3, 4), torch.complex64), [], 2, True, exact=True)
        # MKL, by which PyTorch computes, refuses tensors without lines.
        for name, dtype, out_shape, out_dtype, argument in (
            ("c2c", torch.complex64, (0, 4), torch.complex64, True),
            ("r2c", torch.float32, (0, 3), torch.complex64, True),
            ("c2r", torch.complex64, (0, 6), torch.float32, 6),
        ):
            out = torch.empty(out_shape, dtype=out_dtype)
            (result,) = self.op(f"aten::_fft_{name}.out").run(
                torch.empty(0, 4, dtype=dtype), [1], 0, argument, outs=[out]
            )
            self.assertEqual(result.shape, out_shape)

    def test_threads(self) -> None:
        for n in (512, 997):
            self.op("aten::_fft_c2c.out").check_threads(_random((300, n), torch.complex64), [1], 0, True)
            self.op("aten::_fft_r2c.out").check_threads(_random((300, n), torch.float32), [1], 0, True)
            half = _random((300, n // 2 + 1), torch.complex64)
            self.op("aten::_fft_c2r.out").check_threads(half, [1], 0, n)

    def test_rejected(self) -> None:
        c2c, c2r, r2c = (self.op(f"aten::_fft_{kind}.out") for kind in ("c2c", "c2r", "r2c"))
        x, z = torch.ones(3, 4), torch.ones(3, 4, dtype=torch.complex64)
        half = torch.ones(3, 3, dtype=torch.complex64)
        for dims in ([2], [-3], [1, 1], [0, -2]):
            c2c.check_rejected(z, dims, 0, True, outs=[z])
            r2c.check_rejected(x, dims, 0, True, outs=[half])
            c2r.check_rejected(half, dims, 0, 4, outs=[x])
        r2c.check_rejected(x, [], 0, True, outs=[half])
        c2r.check_rejected(half, [], 0, 4, outs=[x])
        for size in (0, -1, 6, 2**40):
            c2r.check_rejected(half, [1], 0, size, outs=[torch.ones(3, 6)])
        for shape in ((3, 0), ()):
            c2c.check_rejected(torch.ones(shape, dtype=torch.complex64), [len(shape) - 1], 0, True, outs=[z])
            r2c.check_rejected(torch.ones(shape), [len(shape) - 1], 0, True, outs=[half])
        for dtype in (*op_tester.ALL_DTYPES, *op_tester.COMPLEX_DTYPES, *op_tester.UNSUPPORTED_DTYPES):
            given = torch.ones((3, 4), dtype=dtype)
            if dtype not in (torch.complex64, torch.complex128):
                c2c.check_rejected(given, [1], 0, True, outs=[given])
                c2r.check_rejected(given, [1], 0, 6, outs=[torch.ones(3, 6)])
            if dtype not in _DTYPES:
                r2c.check_rejected(given, [1], 0, True, outs=[half])
        c2c.check_rejected(z, [1], 0, True, outs=[z.to(torch.complex128)])
        r2c.check_rejected(x, [1], 0, True, outs=[half.to(torch.complex128)])
        c2r.check_rejected(half, [1], 0, 4, outs=[x.double()])


if __name__ == "__main__":
    absltest.main()
