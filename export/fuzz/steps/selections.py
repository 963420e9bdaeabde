"""Steps that select elements, whose number depends on the values. The latest value has known sizes after each step."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer


def _rows(w: Writer, pick: Pick) -> str:
    """Makes the latest value a matrix. Returns its name."""
    w.check_floats()
    size = w.x.shape[-1]
    return w.latest if w.x.dim() == 2 and pick(True, False) else w.value(f"{w.latest}.reshape(-1, {size})")


def _mask(w: Writer, pick: Pick, *sizes: int) -> str:
    """Returns bools that no rounding error changes."""
    if pick(True, False):
        return w.input("bools", *sizes)
    return f"({w.input('ids', *sizes, bound=3)} > {pick(0, 1)})"


def _selected(w: Writer, pick: Pick, expression: str) -> str:
    """Adds selected rows, and what a function or a layer makes of the rows. Returns the name of the result."""
    size = w.x.shape[-1]
    name = w.value(expression)
    if pick(False, False, True):
        w.gives.append(name)
    made = pick("{0}", "torch.relu({0})", "{0} * 2 + 1", "F.softmax({0}, -1)", "{0} - {0}[..., :1]", "{1}({0})")
    return w.value(made.format(name, w.layer(f"nn.Linear({size}, {size})") if "{1}" in made else ""))


def kept_rows(w: Writer, pick: Pick) -> None:
    """Computes with some rows of a matrix, and reduces them or adds them to the other rows."""
    rows = _rows(w, pick)
    mask = w.value(_mask(w, pick, w.x.shape[0]))
    places = pick("", f"torch.nonzero({mask})[:, 0]", f"torch.where({mask})[0]", f"torch.argwhere({mask}).squeeze(1)")
    if places:
        places = w.value(places)
    w.values[rows] = w.values.pop(rows)
    expression = pick(f"{rows}[{places}]", f"{rows}.index_select(0, {places})") if places else f"{rows}[{mask}]"
    made = _selected(w, pick, expression)
    if not places:
        w.value(
            pick(
                f"{made}.sum(0, keepdim=True) + {rows}",
                f"torch.cat([{rows}, {made}]).sum(0)",
                f"{rows} * {mask}.sum() + {made}.sum()",
                f"{rows}.index_put(({mask},), {made})",
                f"{rows}.masked_scatter({mask}[:, None].expand({rows}.shape), {made})",
                f"{made}.mT @ {made}",
                f"torch.cat([{made}[:3], {rows}, {made}[1:-1]]).sum(0)",
                f"{rows} + {made}[-2:].sum()",
            )
        )
        return
    w.value(
        pick(
            f"{rows}.index_add(0, {places}, {made})",
            f"torch.zeros_like({rows}).index_copy(0, {places}, {made})",
            f"{rows}.index_put(({places},), {made})",
            f"torch.zeros_like({rows}).scatter_add(0, {places}[:, None].expand({made}.shape), {made})",
            f"torch.cat([{made}, {rows}]).sum(0)",
            f"{rows} * {places}.shape[0]",
            f"torch.cumsum({made}, 0).sum() * {rows}",
        )
    )


def kept_elements(w: Writer, pick: Pick) -> None:
    """Computes with elements of the latest value that a mask selects."""
    w.check_floats()
    x = w.latest
    mask = w.value(_mask(w, pick, *w.x.shape))
    w.values[x] = w.values.pop(x)
    chosen = w.value(pick(f"torch.masked_select({x}, {mask})", f"{x}[{mask}]", f"{x}[torch.where({mask})]"))
    if pick(False, True):
        w.gives.append(chosen)
    w.value(
        pick(
            f"{x}.masked_scatter({mask}, {chosen} * 2)",
            f"{x}.index_put(({mask},), {chosen} + 1)",
            f"{x} * {chosen}.sum()",
            f"{x} + {chosen}.shape[0]",
            f"{x} + torch.nonzero({mask}).sum(0)[-1]",
            f"torch.cat([{x}.flatten(), {chosen}]).sum() + {x}",
        )
    )


def written_elements(w: Writer, pick: Pick) -> None:
    """Writes to elements of a copy that a mask selects."""
    w.check_floats()
    x = w.latest
    mask = w.value(_mask(w, pick, *w.x.shape))
    w.values[x] = w.values.pop(x)
    copy = w.value(f"{x}.clone()")
    w.statement(
        pick(
            f"{copy}[{mask}] = 0.5",
            f"{copy}[{mask}] = {copy}[{mask}] * 2",
            f"{copy}[{mask}] += 1",
            f"{copy}.masked_fill_({mask}, -1.0)",
            f"{copy}[~{mask}] = {x}[~{mask}].exp().clamp(max=9)",
        )
    )


def experts(w: Writer, pick: Pick) -> None:
    """Applies to each row the layer that an input chooses, as a mixture of experts does."""
    rows = _rows(w, pick)
    count, size = w.x.shape
    number = pick(2, 3)
    chosen = w.input("ids", count, bound=number)
    result = w.value(f"torch.zeros_like({rows})")
    how = pick("index_add_", "mask", "where")
    for index in range(number):
        layer = w.layer(f"nn.Linear({size}, {size})")
        if how == "mask":
            w.statement(f"{result}[{chosen} == {index}] = {layer}({rows}[{chosen} == {index}])")
            continue
        places = w.value(f"torch.where({chosen} == {index})[0]")
        made = f"{layer}({rows}[{places}])"
        if how == "where":
            w.statement(f"{result}[{places}] += {made}")
        else:
            w.statement(f"{result}.index_add_(0, {places}, {made})")
    w.values[result] = w.values.pop(result)


def repeated_rows(w: Writer, pick: Pick) -> None:
    """Repeats rows as often as an input says, and reduces them."""
    rows = _rows(w, pick)
    counts = w.input("ids", w.x.shape[0], bound=pick(4, 2))
    made = w.value(pick(f"{rows}.repeat_interleave({counts}, 0)", f"torch.repeat_interleave({rows}, {counts}, dim=0)"))
    if pick(False, True):
        w.gives.append(made)
    w.value(pick(f"{made}.sum(0) + {rows}", f"{rows} * {made}.shape[0]", f"torch.cat([{made}, {rows}]).sum(0)"))
