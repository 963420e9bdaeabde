"""Tests of the factorizations and solutions of kernels/linalg.

Vectors of `eigh` and `svd` are unique up to a sign. Their tests multiply the factors.
"""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

DTYPES = (torch.float32, torch.float64)
BATCHES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 0), (2, 3))
SIZES = (0, 1, 2, 3, 5, 17)


def matrices(batch: tuple[int, ...], rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    """Matrices whose condition is small: a diagonal is added to random numbers."""
    generator = torch.Generator().manual_seed(rows * 100 + columns)
    random = torch.rand((*batch, rows, columns), generator=generator, dtype=torch.float64) - 0.5
    return (random + 2 * torch.eye(rows, columns, dtype=torch.float64).flip(0)).to(dtype)


def positive(batch: tuple[int, ...], n: int, dtype: torch.dtype) -> torch.Tensor:
    a = matrices(batch, n, n, torch.float64)
    return (a @ a.mT + torch.eye(n, dtype=torch.float64)).to(dtype)


def column_major(x: torch.Tensor) -> torch.Tensor:
    """The same matrices with contiguous columns."""
    return op_tester.with_dim_order(x, (*range(x.dim() - 2), x.dim() - 1, x.dim() - 2))


class OpLinalgTest(op_tester.OpTest):
    def check_close(self, actual: torch.Tensor, expected: torch.Tensor) -> None:
        tolerance = 1e-5 if actual.dtype == torch.float32 else 1e-12
        torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance * (1 + expected.abs().sum().item()))

    def check_dtypes(self, name: str, *arguments: object) -> None:
        """Checks that other dtypes, vectors and rectangles are judged as in PyTorch."""
        tester = self.op(name)
        for dtype in op_tester.ALL_DTYPES:
            if dtype not in DTYPES:
                tester.judge(torch.eye(2).to(dtype), *arguments)
        for shape in ((), (3,), (2, 3), (3, 2)):
            tester.judge(op_tester.make_tensor(shape, torch.float32), *arguments, rounding=op_tester.Rounding.SUM)

    def test_inverse(self) -> None:
        inverse = self.op("aten::linalg_inv_ex.inverse")
        for dtype, batch, n in itertools.product(DTYPES, BATCHES, SIZES):
            x = matrices(batch, n, n, dtype)
            inverse.check(x, rounding=op_tester.Rounding.SUM)
            inverse.check(column_major(x), rounding=op_tester.Rounding.SUM)
        self.check_dtypes("aten::linalg_inv_ex.inverse")
        singular = torch.tensor([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]])
        outs = [torch.empty(3, 3), torch.empty((), dtype=torch.int32)]
        _, info = inverse.run(singular, outs=outs)
        self.assertEqual(info.item(), torch.linalg.inv_ex(singular).info.item())
        inverse.check_rejected(singular, check_errors=True, outs=outs)
        inverse.check_rejected(torch.eye(3), outs=[outs[0].double(), outs[1]])
        inverse.check_rejected(torch.eye(3), outs=[outs[0], outs[1].long()])

    def test_solve(self) -> None:
        solve = self.op("aten::_linalg_solve_ex.result")
        for dtype, batch, n in itertools.product(DTYPES, BATCHES, SIZES):
            for x in (matrices(batch, n, n, dtype), column_major(matrices(batch, n, n, dtype))):
                solve.check(x, matrices(batch, n, 4, dtype), rounding=op_tester.Rounding.SUM)
                solve.check(x, matrices(batch, 4, n, dtype), left=False, rounding=op_tester.Rounding.SUM)
                solve.check(x, matrices((), n, 1, dtype)[:, 0], rounding=op_tester.Rounding.SUM)
                solve.check(x, matrices(batch, n, 1, dtype)[..., 0], rounding=op_tester.Rounding.SUM)
        a, b = matrices((3,), 4, 4, torch.float32), matrices((2, 1), 4, 2, torch.float32)
        solve.check(a, b, rounding=op_tester.Rounding.SUM)
        solve.check(a, b.mT.contiguous(), left=False, rounding=op_tester.Rounding.SUM)
        for shape in ((3, 2), (4,), (2, 4, 2), (4, 4), ()):
            for left in (True, False):
                solve.judge(a, torch.ones(shape), left=left, rounding=op_tester.Rounding.SUM)
        solve.judge(a, b.double())
        self.check_dtypes("aten::_linalg_solve_ex.result", torch.ones(2, 2))
        x = torch.tensor([[1.0, 2], [2, 4]])
        result, factors, pivots, info = solve.run(
            x, x, outs=[x.clone(), x.clone(), torch.empty(2, dtype=torch.int32), torch.empty((), dtype=torch.int32)]
        )
        expected = torch.ops.aten._linalg_solve_ex(x, x)
        self.assertEqual(info.item(), expected[3].item())
        self.check_close(factors, expected[1])
        self.assertEqual(pivots.tolist(), expected[2].tolist())
        self.assertFalse(result.isfinite().all())
        solve.check_rejected(x, x, check_errors=True, outs=[x, x, pivots, info])

    def test_determinants(self) -> None:
        for name in ("aten::_linalg_det.result", "aten::_linalg_slogdet.sign"):
            tester = self.op(name)
            for dtype, batch, n in itertools.product(DTYPES, BATCHES, SIZES):
                x = matrices(batch, n, n, dtype)
                tester.check(x, rounding=op_tester.Rounding.SUM, rtol=1e-4 if dtype == torch.float32 else 1e-11)
                tester.check(column_major(x), rounding=op_tester.Rounding.SUM, rtol=1e-4)
            self.check_dtypes(name)
            tester.check(torch.tensor([[1.0, 2], [2, 4]]))
            tester.check(torch.zeros(2, 2))

    def test_lu(self) -> None:
        for name in ("aten::linalg_lu.out", "aten::linalg_lu_factor_ex.out"):
            tester = self.op(name)
            for dtype, batch in itertools.product(DTYPES, BATCHES):
                for rows, columns in itertools.product(SIZES, SIZES):
                    x = matrices(batch, rows, columns, dtype)
                    tester.check(x, rounding=op_tester.Rounding.SUM)
            tester.check(column_major(x), rounding=op_tester.Rounding.SUM)
            tester.judge(x, pivot=False)
            self.check_dtypes(name)
            tester.check(torch.tensor([[1.0, 2], [2, 4]]))
        outs = [torch.empty(2, 2), torch.empty(2, dtype=torch.int32), torch.empty((), dtype=torch.int32)]
        tester.check_rejected(torch.zeros(2, 2), check_errors=True, outs=outs)

    def test_lu_solve(self) -> None:
        solve = self.op("aten::linalg_lu_solve.out")
        for dtype, batch, n in itertools.product(DTYPES, BATCHES, SIZES):
            factors, pivots = torch.linalg.lu_factor(matrices(batch, n, n, dtype))
            for left, adjoint in itertools.product((True, False), repeat=2):
                b = matrices(batch, n, 4, dtype) if left else matrices(batch, 4, n, dtype)
                for x in (factors.contiguous(), column_major(factors)):
                    solve.check(x, pivots, b, left=left, adjoint=adjoint, rounding=op_tester.Rounding.SUM)
        factors, pivots = torch.linalg.lu_factor(matrices((3,), 4, 4, torch.float32))
        factors = factors.contiguous()
        for shape in ((2, 1, 4, 2), (3, 4, 2), (4, 2), (4,), (3, 2), (2, 4, 2)):
            solve.judge(factors, pivots, torch.ones(shape), rounding=op_tester.Rounding.SUM)
        b = torch.ones(3, 4, 2)
        solve.judge(factors, pivots[0], b)
        solve.judge(factors, pivots.long(), b)
        solve.judge(factors, pivots, b.double())
        for row in (0, 5, -1):
            wrong = pivots.clone()
            wrong[1, 2] = row
            solve.check_rejected(factors, wrong, b, outs=[torch.empty(3, 4, 2)])

    def test_cholesky(self) -> None:
        for name in ("aten::linalg_cholesky_ex.L", "aten::cholesky.out"):
            tester = self.op(name)
            for dtype, batch, n in itertools.product(DTYPES, BATCHES, SIZES):
                for x in (positive(batch, n, dtype), column_major(positive(batch, n, dtype))):
                    tester.check(x, rounding=op_tester.Rounding.SUM)
                    # Only one triangle is read.
                    tester.check(x.tril(), rounding=op_tester.Rounding.SUM)
                    tester.check(x.triu(), upper=True, rounding=op_tester.Rounding.SUM)
            self.check_dtypes(name)
        x = torch.tensor([[1.0, 2], [2, 1]])
        outs = [torch.empty(2, 2), torch.empty((), dtype=torch.int32)]
        factor = self.op("aten::linalg_cholesky_ex.L")
        self.assertEqual(factor.run(x, outs=outs)[1].item(), 2)
        factor.check_rejected(x, check_errors=True, outs=outs)
        tester.check_rejected(x, outs=outs[:1])

    def test_triangular_solutions(self) -> None:
        solve = self.op("aten::linalg_solve_triangular.out")
        for dtype, batch, n in itertools.product(DTYPES, BATCHES, SIZES):
            x = positive(batch, n, dtype)
            for upper, unit, left in itertools.product((False, True), repeat=3):
                triangle = x.triu(1 if unit else 0) if upper else x.tril(-1 if unit else 0)
                triangle = triangle / 20 if unit else triangle  # the inverse of a large unit triangle is huge
                b = matrices(batch, n, 4, dtype) if left else matrices(batch, 4, n, dtype)
                solve.check(
                    triangle, b, upper=upper, left=left, unitriangular=unit, rounding=op_tester.Rounding.SUM, rtol=1e-4
                )
        a = positive((3,), 4, torch.float32).tril()
        for shape in ((2, 1, 4, 2), (3, 4, 2), (4, 2), (4,), (3, 2), (2, 4, 2)):
            solve.judge(a, torch.ones(shape), upper=False, rounding=op_tester.Rounding.SUM)
            self.op("aten::cholesky_solve.out").judge(torch.ones(shape), a, rounding=op_tester.Rounding.SUM)

    def test_cholesky_solve(self) -> None:
        solve = self.op("aten::cholesky_solve.out")
        for dtype, batch, n in itertools.product(DTYPES, BATCHES, SIZES):
            factor = torch.linalg.cholesky(positive(batch, n, dtype))
            b = matrices(batch, n, 4, dtype)
            solve.check(b, factor, rounding=op_tester.Rounding.SUM)
            solve.check(b, factor.mT.contiguous(), True, rounding=op_tester.Rounding.SUM)

    def test_qr(self) -> None:
        qr = self.op("aten::linalg_qr.out")
        for mode, dtype, batch in itertools.product(("reduced", "complete", "r"), DTYPES, BATCHES):
            for rows, columns in itertools.product(SIZES, SIZES):
                x = matrices(batch, rows, columns, dtype)
                qr.check(x, mode, rounding=op_tester.Rounding.SUM)
        qr.check(column_major(x), mode, rounding=op_tester.Rounding.SUM)
        qr.check(torch.zeros(3, 2))
        qr.check(torch.tensor([[-2.0, 1], [0, 3], [0, 0]]))
        qr.check(torch.tensor([[1e30, 1e30], [1e30, -1e30]]), rtol=1e-5)
        x = torch.eye(2)
        qr.check_rejected(x, "full", outs=[x, x])
        self.check_dtypes("aten::linalg_qr.out")

    def test_singular_values(self) -> None:
        svd = self.op("aten::_linalg_svd.U")
        for dtype, batch in itertools.product(DTYPES, BATCHES):
            for rows, columns in itertools.product(SIZES, SIZES):
                x = matrices(batch, rows, columns, dtype)
                svd.check(x, False, False, rounding=op_tester.Rounding.SUM)
                for full in (False, True):
                    self.check_svd(svd, x, full)
        low_rank = torch.arange(20.0).reshape(4, 5).double()
        for x in (low_rank, low_rank.mT.contiguous(), torch.zeros(3, 2), low_rank * 1e-300, torch.ones(4, 4) * 1e18):
            for full in (False, True):
                self.check_svd(svd, x, full)
        outs = [torch.empty(2, 2), torch.empty(2), torch.empty(2, 2)]
        for value in (float("inf"), float("nan")):
            svd.check_rejected(torch.full((2, 2), value), outs=outs)
        svd.check_rejected(torch.ones(2, 2), driver="gesvd", outs=outs)

    def check_svd(self, svd: op_tester.OpTester, x: torch.Tensor, full: bool) -> None:
        expected = torch.linalg.svd(x, full_matrices=full)
        u, s, vh = svd.run(x, full, outs=[one.contiguous() for one in expected])
        self.check_close(s, expected.S)
        k = s.shape[-1]
        self.check_close(u[..., :k] * s[..., None, :] @ vh[..., :k, :], x)
        self.check_close(u.mT @ u, torch.eye(u.shape[-1], dtype=x.dtype).expand(u.mT.shape[:-1] + u.shape[-1:]))
        self.check_close(vh @ vh.mT, torch.eye(vh.shape[-2], dtype=x.dtype).expand(vh.shape[:-1] + vh.shape[-2:-1]))

    def test_eigenvalues(self) -> None:
        eigh = self.op("aten::_linalg_eigh.eigenvalues")
        for dtype, batch, n in itertools.product(DTYPES, BATCHES, SIZES):
            general = matrices(batch, n, n, dtype)
            for x in (general + general.mT, positive(batch, n, dtype), torch.zeros_like(general)):
                eigh.check(x, "L", False, rounding=op_tester.Rounding.SUM)
                eigh.check(x.triu(), "U", False, rounding=op_tester.Rounding.SUM)
                expected = torch.linalg.eigh(x)
                values, vectors = eigh.run(x.tril(), "L", outs=[one.contiguous() for one in expected])
                self.check_close(values, expected.eigenvalues)
                self.check_close(vectors * values[..., None, :] @ vectors.mT, x)
                self.check_close(vectors.mT @ vectors, torch.eye(n, dtype=dtype).expand(x.shape))
        outs = [torch.empty(2), torch.empty(2, 2)]
        for value in (float("inf"), float("nan")):
            eigh.check_rejected(torch.full((2, 2), value), outs=outs)
        eigh.check_rejected(torch.eye(2), "X", outs=outs)
        for dtype in (torch.int32, torch.float16):
            eigh.judge(torch.eye(2).to(dtype))
        eigh.judge(torch.ones(2, 3))

    def test_exponentials(self) -> None:
        exp = self.op("aten::linalg_matrix_exp.out")
        for dtype, batch, n in itertools.product(DTYPES, BATCHES, SIZES):
            for scale in (1e-3, 0.3, 1, 4):
                x = matrices(batch, n, n, dtype) * scale
                largest = torch.linalg.matrix_exp(x).abs().sum().item()
                tolerance = 2e-6 if dtype == torch.float32 else 1e-13
                exp.check(x, rtol=tolerance, atol=tolerance * largest)
        exp.check(column_major(x), rtol=1e-12, atol=1e-13 * largest)
        exp.check(torch.zeros(2, 2))
        for refused in (torch.ones(2, 3), torch.ones(3), torch.eye(2).int(), torch.eye(2).bool()):
            exp.judge(refused)
        # PyTorch multiplies halves, and its results have two digits.
        exp.check_rejected(torch.eye(2).half(), outs=[torch.eye(2).half()])


if __name__ == "__main__":
    absltest.main()
