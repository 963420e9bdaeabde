"""Steps that write into values which the module returns, and into views of these values."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer


def _base(w: Writer, pick: Pick) -> str:
    """Adds a value to write into. Returns its name.

    Raises:
        ValueError: the latest value has no dimensions or no elements.
    """
    x = w.latest
    if not w.x.dim() or not w.x.numel():
        raise ValueError("nothing to write to")
    return w.value(pick(f"{x} * 2", f"torch.relu({x})", f"{x}.clone()", f"{x} + 1"))


def _view(w: Writer, pick: Pick, name: str) -> str:
    """Adds a view of a value. Returns its name."""
    value = w.values[name]
    rank, sizes = value.dim(), tuple(value.shape)
    return w.value(
        name
        + pick(
            ".view(-1)",
            f".view({(sizes[0], -1)})",
            ".unsqueeze(0)",
            ".transpose(0, -1)",
            ".flatten()",
            "[0]",
            "[..., :1]",
            f".view({(*sizes, 1)})",
            f".permute({tuple(range(rank))[::-1]})",
            ".squeeze()",
            "[None]",
        )
    )


def written_output(w: Writer, pick: Pick) -> None:
    """Writes into a flat view, without or in place, returns it, and views it again."""
    base = _base(w, pick)
    sizes, count = tuple(w.x.shape), w.x.numel()
    flat = f"{base}.{pick('view(-1)', 'flatten()', 'reshape(-1)')}"
    positions = f"torch.tensor([0, {count - 1}])"
    new = pick(f"torch.ones(2, dtype={w.dtype})", f"torch.tensor(1.5, dtype={w.dtype})")
    name = w.value(
        pick(
            f"{flat}.index_put(({positions},), {new})",
            f"{flat}.index_copy(0, {positions}, torch.ones(2, dtype={w.dtype}))",
            f"{flat}.slice_scatter(torch.zeros({min(count, 2)}, dtype={w.dtype}), 0, 0, {min(count, 2)})",
            f"{flat}.scatter(0, {positions}, 3.0)",
            f"{flat}.select_scatter(torch.tensor(2.0, dtype={w.dtype}), 0, 0)",
            f"{flat}.masked_fill(torch.arange({count}) < 2, 0.5)",
            f"{flat}.index_fill(0, {positions}, 2.0)",
        )
    )
    w.gives.append(name)
    if pick(True, False):
        w.gives.append(w.value(f"{base} + 1"))
    w.value(f"{name}.view({sizes}){pick(' + 1', '', ' * 2')}")


def views_around_write(w: Writer, pick: Pick) -> None:
    """Takes several views of a value before and after it is written, and returns some of these."""
    base = _base(w, pick)
    x = base
    views = [_view(w, pick, base) for _ in range(pick(1, 2))]
    if pick(True, False):
        w.gives.append(w.value(f"{views[0]} + 1"))
    target = pick(base, *views)
    w.statement(
        target
        + pick(
            "[0] = 2.0",
            ".mul_(0.5)",
            ".add_(1)",
            "[..., :1] = 0.25",
            ".index_fill_(0, torch.tensor([0]), 1.5)",
            ".clamp_(-1, 1)",
            ".copy_(" + target + ".flip(0))",
            ".index_put_((torch.tensor([0]),), torch.tensor(0.5).to(" + x + ".dtype))",
        )
    )
    if pick(False, True):
        w.statement(f"{pick(*views, base)}{pick('.add_(1)', '[:1] = 0')}")
    if pick(True, False):
        w.gives.append(base)
    if pick(True, False):
        views.append(_view(w, pick, base))
    w.gives.append(pick(*views))
    w.value(f"{pick(*views[::-1])}{pick(' + 1', ' * 2', '.sum(0)')}")


def views_of_one(w: Writer, pick: Pick) -> None:
    """Returns several views of one value, and results of these."""
    base = _base(w, pick)
    views = [_view(w, pick, base) for _ in range(pick(2, 3))]
    w.gives += views[pick(0, 1) :]
    if pick(True, False):
        w.gives.append(base)
    written = w.value(pick(f"{views[0]}.clone()", f"{views[0]} * 1"))
    w.statement(f"{written}{pick('[0] = 0.5', '.add_(1)', '.zero_()')}")
    w.value(f"{pick(written, *views)}{pick(' + 1', '.reshape(-1)')}")
