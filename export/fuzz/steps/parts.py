"""Steps that read and write parts of tensors by indices, masks and diagonals."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer


def scatter(w: Writer, pick: Pick) -> None:
    """Writes elements to places that an input has."""
    w.check_floats()
    x, rank = w.latest, w.x.dim()
    dim = pick(rank - 1, 0, rank // 2)
    size = w.x.shape[dim]
    places = w.input("positions", pick(size, max(1, size // 2)), bound=size)
    count = w.inputs[-1].sizes[0]
    given = w.input("floats", *w.x.shape[:dim], count, *w.x.shape[dim + 1 :])
    shape = [1] * rank
    shape[dim] = count
    spread = f"{places}.reshape({shape}).expand({given}.shape)"
    repeated = w.input("ids", *w.x.shape, bound=size)
    reduce = pick("sum", "amax", "mean", "prod", "amin")
    own = pick(True, False)
    w.value(
        pick(
            f"{x}.scatter({dim}, {spread}, {given})",
            f"{x}.scatter({dim}, {spread}, 1.5)",
            f"{x}.scatter_add({dim}, {repeated}, {x})",
            f"{x}.scatter_reduce({dim}, {repeated}, {x}, '{reduce}', include_self={own})",
            f"{x}.index_add({dim}, {places}, {given}, alpha=2)",
            f"{x}.index_copy({dim}, {places}, {given})",
            f"{x}.index_fill({dim}, {places}, 0.5)",
            f"{x}.index_reduce({dim}, {places}, {given}, 'amax')",
            f"{x}.gather({dim}, {repeated})",
            f"torch.take_along_dim({x}, {spread}, {dim})",
            f"{x}.index_select({dim}, {places})",
            f"torch.zeros_like({x}).scatter_({dim}, {spread}, {given}) + {x}",
        )
    )


def elements(w: Writer, pick: Pick) -> None:
    """Reads or replaces elements by a mask, or by places in the whole tensor."""
    w.check_floats()
    x, count = w.latest, w.x.numel()
    places = w.input("positions", min(count, pick(3, 8)), bound=count)
    taken = w.inputs[-1].sizes[0]
    w.value(
        w.masked(
            pick(
                f"torch.take({x}, {places})",
                f"{x}.put({places}, torch.arange({taken}).to({x}.dtype))",
                f"{x}.masked_scatter(MASK, {x}.flip(0))",
                f"{x}.masked_fill(MASK, -1.5)",
                f"torch.where(MASK, {x}, -{x}).flatten()[{places}]",
                f"{x}.flatten().index_put(({places},), torch.ones({taken}, dtype={x}.dtype), accumulate=True)",
            )
        )
    )


def diagonal(w: Writer, pick: Pick) -> None:
    """Reads or writes diagonals, triangles and other regular parts."""
    w.check_floats()
    x, rank = w.latest, w.x.dim()
    offset = pick(0, 1, -1)
    part = f"{x}.diagonal({offset}, -2, -1)"
    dim = pick(0, rank - 1)
    before = ":, " * dim
    w.value(
        pick(
            f"{part} * 2",
            f"{part}.sum(-1)",
            f"torch.diag_embed({x}, {offset})",
            f"torch.diagonal_scatter({x}, torch.ones_like({part}), {offset}, -2, -1)",
            f"torch.select_scatter({x}, {x}.select({dim}, 0) * 2, {dim}, -1)",
            f"torch.slice_scatter({x}, {x}[{before}:1] + 1, {dim}, 0, 1)",
            f"torch.tril({x}, {offset})",
            f"torch.triu({x}, {offset}) + {x}.flatten(-2).sum()",
            f"{x}.as_strided(({w.x.numel() // 2},), (2,), 1)" if w.x.is_contiguous() else f"{x}.diff(dim={dim})",
            f"{x}.diff(dim={dim})",
            f"{x}.rot90(1, ({-2}, {-1}))",
            f"torch.trapezoid({x}, dim={dim})",
            f"torch.stack(torch.meshgrid({x}.flatten()[:3], {x}.flatten()[:4], indexing='{pick('ij', 'xy')}'))",
            f"{x}.unfold({dim}, {min(2, w.x.shape[dim])}, 1).sum(-1)",
            f"{x}.fliplr()",
            f"torch.cartesian_prod({x}.flatten()[:3], {x}.flatten()[:2])",
            f"{x}[..., torch.tril_indices(2, 2)[0]]",
        )
    )


def sampled_image(w: Writer, pick: Pick) -> None:
    """Samples images at computed places, or joins patches."""
    n, c, height, width = w.images()
    x = w.latest
    corners = pick(True, False)
    mode, padding = pick("bilinear", "bicubic"), pick("zeros", "border", "reflection")
    more = f"mode='{mode}', padding_mode='{padding}', align_corners={corners}"
    turn = w.buffer("torch.tensor([[0.9, 0.2, 0.1], [-0.2, 0.8, 0.05]])", "turn")
    sizes = (n, c, pick(height, 5), pick(width, 4))
    w.value(
        pick(
            f"F.grid_sample({x}, F.affine_grid({turn}.to({x}.dtype).expand({n}, 2, 3), {sizes}, {corners}), {more})",
            f"F.grid_sample({x}, torch.tanh({x}[:, :1, :4, :4, None] * torch.ones(2, dtype={x}.dtype))[:, 0], {more})",
            f"F.fold(F.unfold({x}, 3, padding=1), ({height}, {width}), 3, padding=1)",
            f"F.local_response_norm({x}, 3)",
            f"F.lp_pool2d({x}.abs() + 0.1, 2, 2)",
            f"F.max_pool2d({x}, 2, return_indices=True)[0]",
            f"F.adaptive_max_pool2d({x}, (2, 3))",
            f"F.fractional_max_pool2d({x}, 2, output_size=(2, 2), _random_samples=torch.full(({n}, {c}, 2), 0.4))",
        )
    )


def bag(w: Writer, pick: Pick) -> None:
    """Adds sums of rows of a table."""
    rows, size = pick(10, 33), pick(16, 8, 5)
    ids = w.input("ids", 4, pick(3, 1), bound=rows)
    mode = pick("sum", "mean", "max")
    layer = w.layer(f"nn.EmbeddingBag({rows}, {size}, mode='{mode}', padding_idx={pick(None, 0)})", "bag")
    w.value(f"{layer}({ids})")
