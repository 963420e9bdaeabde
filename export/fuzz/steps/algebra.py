"""Steps of linear algebra, products of several tensors, complex numbers and spectra."""

from __future__ import annotations

import torch

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer


def _wide(w: Writer) -> str:
    """Makes the latest value one of a dtype that these functions take. Returns its name."""
    w.check_floats()
    return w.latest if w.x.dtype in (torch.float32, torch.float64) else w.value(f"{w.latest}.float()")


def product_of_values(w: Writer, pick: Pick) -> None:
    """Multiplies the latest value by another tensor."""
    w.check_floats()
    x, size = w.latest, w.x.shape[-1]
    rows = f"{x}.reshape(-1, {size})"
    other = w.input("floats", pick(5, 1, size), size)
    batches = f"{x}.reshape(2, -1, {size})" if w.x.numel() // size % 2 == 0 else f"{rows}[None]"
    stacked = f"{other}.mT.expand({batches}.shape[0], -1, -1)"
    w.value(
        pick(
            f"torch.bmm({batches}, {stacked})",
            f"torch.baddbmm({batches}[:, :1, :1], {batches}, {stacked}, beta=0.5)",
            f"torch.tensordot({x}, {other}, dims=([-1], [1]))",
            f"torch.einsum('bi,bj->ij', {rows}, {rows})",
            f"torch.einsum('...i,ki,k->...', {x}, {other}, {other}[:, 0])",
            f"torch.outer({x}.flatten()[:9], {other}[0])",
            f"torch.kron({rows}[:3], {other}[:2])",
            f"torch.inner({x}, {other})",
            f"torch.mv({rows}, {other}[0])",
            f"{x} * torch.dot({rows}[0], {other}[0])",
            f"torch.addbmm({rows}[:1, :1], {batches}, {stacked})",
            f"{rows}.mT @ {rows}",
            f"torch.block_diag({rows}[:3], {other}[:2])",
            f"torch.linalg.vecdot({x}, {other}[0])",
            f"F.bilinear({rows}, {rows}, {other}.repeat({size}, 1)[None, :{size}])",
        )
    )


def matrix_function(w: Writer, pick: Pick) -> None:
    """Applies a function of positive definite matrices."""
    x = _wide(w)
    size = min(w.x.shape[-1], 12)
    rows = f"{x}.reshape(-1, {w.x.shape[-1]})[:, :{size}]"
    gram = w.value(f"({rows}.mT @ {rows}) / {max(1, w.x.numel() // w.x.shape[-1])} + torch.eye({size})")
    if pick(False, True):
        gram = w.value(f"torch.stack([{gram}, {gram} * 2])")
    w.value(
        pick(
            f"torch.linalg.inv({gram})",
            f"torch.linalg.solve({gram}, {gram}[..., :2] + 1)",
            f"torch.linalg.cholesky({gram})",
            f"torch.logdet({gram}) + {gram}.diagonal(dim1=-2, dim2=-1).sum()",
            f"torch.linalg.det({gram} / 2)",
            f"torch.linalg.solve_triangular({gram}, {gram}[..., :3], upper=True)",
            f"torch.linalg.matrix_power({gram} / 4, 3)",
            f"torch.linalg.eigvalsh({gram})",
            f"torch.linalg.svdvals({gram})",
            f"torch.cholesky_solve({gram}[..., :1], torch.linalg.cholesky({gram}))",
            f"torch.linalg.norm({gram}, dim=(-2, -1))",
            f"torch.linalg.matrix_exp({gram} / 8)",
        )
    )


def spectrum(w: Writer, pick: Pick) -> None:
    """Filters the latest value, or takes parts of its spectrum."""
    x = _wide(w)
    norm = pick("backward", "ortho", "forward")
    size, dim = w.x.shape[-1], pick(-1, 0)
    bins = size // 2 + 1
    kind = pick("filter", "parts", "signal", "two")
    if kind == "filter":
        gain = w.layer(f"nn.Parameter(torch.randn({bins}, 2))", "gain")
        gain = pick(f"torch.view_as_complex({gain}.float())", f"{gain}[:, 0].float()")
        w.value(f"torch.fft.irfft(torch.fft.rfft({x}, norm='{norm}') * {gain}, n={size}, norm='{norm}')")
    elif kind == "parts":
        bins_of = pick(
            f"torch.fft.rfft({x}, dim={dim}, norm='{norm}')", f"torch.fft.fft({x}, dim={dim}, norm='{norm}')"
        )
        part = pick(
            "torch.view_as_real({})", "{}.real", "{}.imag", "({}.abs() + 1).log()", "torch.cat([{0}.real, {0}.imag])"
        )
        w.value(part.format(bins_of))
    elif kind == "two":
        w.value(
            pick(
                f"torch.fft.fft2({x}).real",
                f"torch.fft.irfft2(torch.fft.rfft2({x}), s={tuple(w.x.shape[-2:])})",
                f"torch.fft.fftshift({x}, dim={dim})",
                f"torch.fft.ifft(torch.fft.fftn({x}, norm='ortho')).real",
            )
        )
    else:
        flat = f"{x}.reshape(-1, {size})"
        window = w.buffer("torch.hann_window(8)", "window")
        more = f"window={window}.float(), return_complex=True, center={pick(True, False)}"
        made = f"torch.stft({flat}, 8, {pick(4, 3)}, {more})"
        w.value(pick(f"({made}.abs() + 1).log()", f"torch.view_as_real({made})", f"{made}.abs().pow(2)"))


def complex_product(w: Writer, pick: Pick) -> None:
    """Turns pairs of elements by angles, as rotary embeddings do."""
    x = _wide(w)
    size = w.x.shape[-1]
    if size % 2:
        raise ValueError("no pairs")
    pairs = f"torch.view_as_complex({x}.reshape({(*w.x.shape[:-1], size // 2, 2)}))"
    angles = w.buffer(f"torch.rand({size // 2}) * 3", "angles")
    turn = pick(
        f"torch.polar(torch.ones({size // 2}), {angles}.float())",
        f"torch.exp(1j * {angles}.float())",
        f"torch.complex({angles}.float().cos(), {angles}.float().sin())",
    )
    made = pick(f"{pairs} * {turn}", f"{pairs} * {turn}.conj()", f"{pairs} / {turn}", f"{pairs} + {turn} * 0.5")
    w.value(pick(f"torch.view_as_real({made}).flatten(-2)", f"({made}).real", f"({made}).abs()"))
