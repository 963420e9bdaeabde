"""Steps that move elements, and steps that join values."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer


def _sizes(w: Writer) -> tuple[int, ...]:
    return tuple(w.x.shape)


def permute(w: Writer, pick: Pick) -> None:
    rank, x = w.x.dim(), w.latest
    left = list(range(rank))
    order = [left.pop(pick(*range(len(left)))) for _ in range(rank)]
    one, other = pick(-1, 0, 1) % rank, pick(-2, 1, 2) % rank
    w.value(
        pick(
            f"{x}.transpose({one}, {other})",
            f"{x}.permute({order})",
            f"{x}.permute({order}).contiguous()",
            f"{x}.movedim({one}, {other})",
            f"{x}.flip({one})",
            f"{x}.roll({pick(1, 2)}, {one})",
            f"{x}.to(memory_format=torch.channels_last)" if rank == 4 else f"{x}.contiguous()",
            f"{x}.clone()",
            f"{x}.mT.mT" if rank > 1 else f"{x} * 1",
        )
    )


def view(w: Writer, pick: Pick) -> None:
    rank, x, sizes = w.x.dim(), w.latest, _sizes(w)
    dim = pick(*range(rank)) if rank else 0
    parts = [one for one in (2, 4, 3) if rank and sizes[dim] % one == 0]
    options = [
        f"{x}.unsqueeze({pick(*range(rank + 1))})",
        f"{x}.unsqueeze(0).squeeze(0)",
        f"{x}[None]",
        f"{x}.squeeze()",
    ]
    if rank:
        options += [f"{x}.flatten({dim})", f"{x}.reshape(-1)", f"{x}.reshape({sizes})", f"{x}.squeeze({dim})"]
        options += [f"{x}.reshape({x}.shape[0], -1)", f"{x}.view_as({x})"]
        options += [f"{x}.unflatten({dim}, ({one}, -1))" for one in parts]
    if rank > 1:
        options += [f"{x}.flatten(0, 1)", f"{x}.flatten(1).reshape({x}.shape)", f"{x}.flatten(-2)"]
    w.value(pick(*options))


def part(w: Writer, pick: Pick) -> None:
    """Takes a slice, which may be empty, or some of the elements."""
    rank, x = w.x.dim(), w.latest
    dim = pick(*range(rank))
    size = w.x.shape[dim]
    before = ":, " * dim
    w.value(
        pick(
            f"{x}[{before}1:]",
            f"{x}[{before}:{pick(1, 2, -1)}]",
            f"{x}[{before}::2]",
            f"{x}[{before}{pick(0, -1)}]",
            f"{x}.narrow({dim}, {pick(0, 1)}, {max(size - 1, 0)})",
            f"{x}.select({dim}, {pick(0, -1)})",
            f"{x}[{before}[{size - 1}, 0]]",
            f"{x}.index_select({dim}, torch.tensor([0, {size - 1}]))",
            f"{x}.chunk(2, {dim})[{pick(0, -1)}]",
            f"{x}.split({pick(1, 2)}, {dim})[0]",
            f"{x}[{before}:0]",
            f"{x}.unbind({dim})[0]",
            f"{x}.unfold({dim}, {min(2, size)}, 1)",
            f"{x}[..., :-1]",
        )
    )


def spread(w: Writer, pick: Pick) -> None:
    """Repeats or expands elements."""
    rank, x = w.x.dim(), w.latest
    repeats = [pick(1, 2) for _ in range(rank)]
    w.value(
        pick(
            f"{x}.expand({(2, *_sizes(w))})",
            f"{x}.repeat({repeats or [2]})",
            f"{x}.repeat_interleave(2, {pick(0, -1)})",
            f"{x}[:, None].expand({(*_sizes(w)[:1], 2, *_sizes(w)[1:])}).reshape({(-1, *_sizes(w)[1:])})",
            f"{x}.expand_as({x})",
            f"torch.tile({x}, (2,))",
        )
    )


def _alike(w: Writer, pick: Pick) -> str:
    """Picks a second operand for the latest value: an earlier value of the same sizes, a constant or a new input."""
    x = w.x
    earlier = [name for name, one in w.values.items() if one.shape == x.shape and one.dtype == x.dtype]
    kind = pick("value", "value", "parameter", "number", "input", "row")
    if kind == "parameter":
        sizes = tuple(size if pick(True, False) else 1 for size in x.shape)[pick(*range(x.dim() + 1)) :]
        return w.layer(f"nn.Parameter(torch.randn({sizes}))", "weight")
    if kind == "number":
        return pick("2", "0.5", "torch.tensor(3.0)", "torch.tensor(2)", "torch.ones(1)")
    if kind == "input":
        return w.input("floats", *x.shape)
    if kind == "row":
        row = [name for name, one in w.values.items() if one.dim() <= x.dim() and one.is_floating_point()]
        return pick(*row[::-1])
    return pick(*earlier[::-1])


def combine(w: Writer, pick: Pick) -> None:
    """Adds a residual addition or another function of two values."""
    x, other = w.latest, _alike(w, pick)
    w.value(
        w.masked(
            pick(
                f"{x} + {other}",
                f"{other} + {x}",
                f"{x} * {other}",
                f"{x} - {other}",
                f"torch.add({x}, {other}, alpha=2)",
                f"{x} / (1 + torch.abs(torch.as_tensor({other})))",
                f"torch.relu({x} + {other})",
                f"torch.maximum({x}, torch.as_tensor({other}).to({x}.dtype))",
                f"torch.where(MASK, {x}, {other})",
            )
        )
    )


def residual_layer(w: Writer, pick: Pick) -> None:
    """Adds a layer, a residual addition and an activation, which graph passes fuse into one packed layer."""
    x, rank = w.latest, w.x.dim()
    if rank in (4, 3) and pick(True, rank == 4):
        count, channels = rank - 2, w.x.shape[1]
        size = pick(3, 1)
        layer = w.layer(
            f"nn.Conv{count}d({channels}, {channels}, {size}, padding={size // 2}, bias={pick(True, False)})"
        )
    else:
        layer = w.layer(f"nn.Linear({w.x.shape[-1]}, {w.x.shape[-1]}, bias={pick(True, False)})")
    name = w.value(f"{layer}({x})")
    if pick(False, True) and rank == 4:
        norm = w.layer(f"nn.BatchNorm2d({w.x.shape[1]})", "norm")
        name = w.value(f"{norm}({name})")
    last = pick("{}", "torch.relu({})", "F.gelu({})", "F.silu({})", "{}.clamp(-1, 1)", "torch.sigmoid({})")
    w.value(pick(last.format(f"({name} + {x})"), f"{x} + {last.format(name)}", f"{last.format(name)} * {x}"))


def join(w: Writer, pick: Pick) -> None:
    x = w.latest
    other = pick(x, f"-{x}", f"torch.relu({x})", _alike(w, Pick(())), f"torch.zeros_like({x})", f"{x}[:0]")
    dim = pick(0, 1, -1) if w.x.dim() > 1 else 0
    w.value(
        pick(
            f"torch.cat([{x}, {other}], {dim})",
            f"torch.stack([{x}, {other}], {dim})",
            f"torch.cat([{x}, {other}, {x}], {dim})",
            f"torch.cat([{other}, {x}], {dim})",
            f"torch.cat({x}.chunk(2, {dim})[::-1], {dim})",
            f"sum({x}.split(1, {dim}))",
        )
    )


def again(w: Writer, pick: Pick) -> None:
    """Calls an existing layer on another value."""
    w.value(f"{pick(*w.layers[::-1])}({w.latest})")


def earlier(w: Writer, pick: Pick) -> None:
    """Makes an earlier value the latest value."""
    names = [name for name, value in w.values.items() if value.is_floating_point() and name != w.latest]
    name = pick(*names[::-1])
    w.values[name] = w.values.pop(name)
