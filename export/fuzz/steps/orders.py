"""Steps that sort and select elements. Keys are inputs, whose order no rounding error changes. Many keys are equal."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer


def _keys(w: Writer, pick: Pick) -> str:
    """Returns keys of the sizes of the latest value, which has dimensions."""
    w.check_floats()
    kind = pick("ids", "rounded", "floats", "bools")
    if kind == "rounded":
        return w.value(f"torch.round({w.input('floats', *w.x.shape)})")
    return w.input(kind, *w.x.shape, bound=pick(3, 100))


def sort(w: Writer, pick: Pick) -> None:
    """Orders the latest value by keys."""
    x, dim = w.latest, pick(-1, 0, w.x.dim() // 2)
    keys = _keys(w, pick)
    more = f"dim={dim}, descending={pick(False, True)}"
    order = pick(
        f"torch.argsort({keys}, {more})",
        f"torch.sort({keys}, {more})[1]",
        f"torch.sort({keys}, stable=True, {more})[1]",
        f"{keys}.argsort({more}).argsort({dim})",  # The rank of each element.
    )
    if w.x.dim() == 1 and pick(True, False):
        w.value(f"{x}[{order}]")
    else:
        w.value(f"torch.gather({x}, {dim}, {order})")


def select_first(w: Writer, pick: Pick) -> None:
    """Selects some elements by keys: the largest, the smallest, or one of them."""
    x, dim = w.latest, pick(-1, 0, w.x.dim() // 2)
    size = w.x.shape[dim]
    keys = _keys(w, pick)
    function = pick("topk", "topk", "max", "min", "argmax", "mode")
    if function == "topk":
        more = f"largest={pick(True, False)}, sorted={pick(True, False)}"
        indices = f"torch.topk({keys}, {pick(1, min(3, size), size // 2, size)}, {dim}, {more})[1]"
    elif function == "argmax":
        indices = f"torch.argmax({keys}.float(), {dim}, keepdim=True)"
    else:
        indices = f"torch.{function}({keys}, {dim}, keepdim=True)[1]"
    w.value(f"torch.gather({x}, {dim}, {indices})")


def order_statistic(w: Writer, pick: Pick) -> None:
    """Takes values, not indices: rounding errors may exchange elements."""
    w.check_floats()
    x, dim = w.latest, pick(-1, 0, w.x.dim() // 2)
    size = w.x.shape[dim]
    w.value(
        pick(
            f"torch.sort({x}, dim={dim}, descending={pick(False, True)})[0]",
            f"torch.topk({x}, {pick(1, size // 2, size)}, {dim}, largest={pick(True, False)})[0]",
            f"torch.kthvalue({x}, {pick(1, size)}, {dim})[0]",
            f"torch.median({x}, {dim}, keepdim={pick(True, False)})[0]",
            f"torch.msort({x})",
            f"torch.cummax({x}, {dim})[0]",
            f"torch.quantile({x}.float(), 0.3, dim={dim}, keepdim=True).to({x}.dtype)",
            f"torch.aminmax({x}, dim={dim}, keepdim=True)[{pick(0, 1)}]",
        )
    )


def search(w: Writer, pick: Pick) -> None:
    """Finds the places of keys among sorted numbers."""
    x, keys = w.latest, _keys(w, pick)
    right = pick(False, True)
    edges = w.buffer(pick("torch.tensor([-1.0, 0.0, 0.0, 1.0])", "torch.tensor([0.0, 1.0, 2.0])"), "edges")
    places = pick(
        f"torch.bucketize({keys}.float(), {edges}.float(), right={right})",
        f"torch.searchsorted({edges}.float(), {keys}.float(), right={right})",
    )
    w.value(f"{x} * {places}.to({x}.dtype)")
