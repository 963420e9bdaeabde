"""Steps that write to buffers, to values and to inputs."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer


def cache(w: Writer, pick: Pick) -> None:
    """Writes the latest value into a cache at positions, and reads the cache."""
    rank, x = w.x.dim(), w.latest
    if not rank:
        raise ValueError("nothing to put in rows")
    dim = pick(*range(rank))
    count = w.x.shape[dim]
    length = count + pick(3, 1, 0)
    sizes = tuple(length if one == dim else size for one, size in enumerate(w.x.shape))
    start = pick("zeros", "zeros", "randn")
    name = w.buffer(f"torch.{start}({sizes}).to({w.x.dtype})", "cache")
    before = ":, " * dim
    way = pick("index_put", "index_copy", "slice", "positions", "functional", "first")
    positions = f"torch.arange({count})"
    if way in ("index_put", "index_copy", "functional"):
        positions = w.input("positions", count, bound=length)
    if way == "index_copy":
        w.statement(f"{name}.index_copy_({dim}, {positions}, {x})")
    elif way == "slice":
        first = pick(0, length - count)
        w.statement(f"{name}[{before}{first}:{first + count}] = {x}")
    elif way == "functional":
        indices = "None, " * dim + positions
        w.statement(f"{name}.copy_(torch.ops.aten.index_put({name}, [{indices}], {x}))")
    elif way == "first":
        w.statement(f"{name}[{before}0] = {x}.select({dim}, 0)")
    else:
        w.statement(f"{name}[{before}{positions}] = {x}")
    reads = (f"{name} * 1", f"{name}", f"{name}[{before}:{count}]", f"{name}.clone()", f"{name}.transpose(0, -1)")
    w.value(pick(*reads, f"{x} + {name}.mean()"))


def counter(w: Writer, pick: Pick) -> None:
    kind = pick("torch.zeros(1)", "torch.ones(())", "torch.zeros(1, dtype=torch.int64)")
    name = w.buffer(kind, "count")
    way = pick("add", "assign", "set")
    if way == "add":
        w.statement(f"{name}.add_(1)")
    elif way == "assign":
        w.statement(f"{name} += {pick(1, 2)}")
    else:
        w.statement(f"{name}.copy_({name} + 1)")
    w.value(f"{w.latest} {pick('+', '*')} {name}")


def write(w: Writer, pick: Pick) -> None:
    """Writes into a copy of the latest value, into the value itself, or into a view of it."""
    rank, x = w.x.dim(), w.latest
    if not rank or not w.x.numel():
        raise ValueError("nothing to write to")
    name = w.value(pick(f"{x} * 2", f"{x}.clone()", f"{x} + 0"))
    dim = pick(*range(rank))
    before = ":, " * dim
    target = pick(name, f"{name}.view(-1)" if w.x.is_contiguous() else name, f"{name}.transpose(0, -1)")
    if target == name:
        w.statement(
            w.masked(
                pick(
                    f"{name}[{before}0] = {pick('1.5', f'{name}[{before}-1] * 2')}",
                    f"{name}[{before}torch.tensor([0])] = {name}[{before}:1] * 3",
                    f"{name}.add_({x})",
                    f"{name}[{before}1:] = 0",
                    f"{name}.index_fill_({dim}, torch.tensor([0]), 2.0)",
                    f"{name}.masked_fill_(MASK, 0.5)",
                    f"{name}[{before}::2] += 1",
                    f"{name}.clamp_(-1, 1)",
                    f"{name}.copy_({x}.mean())",
                    f"{name}.index_add_({dim}, torch.tensor([0]), {name}[{before}:1])",
                    f"{name}.scatter_({dim}, torch.zeros({[1] * rank}, dtype=torch.int64), 4.0)",
                )
            )
        )
    else:
        w.statement(f"{target}{pick('[0] = 2.0', '.mul_(2)', '[:1] += 1')}")
    w.value(pick(f"{name} + {x}", f"{name} * 1", f"torch.relu({name})"))


def functional_write(w: Writer, pick: Pick) -> None:
    rank, x = w.x.dim(), w.latest
    dim = pick(*range(rank))
    before = ":, " * dim
    indices = "None, " * dim
    w.value(
        pick(
            f"torch.ops.aten.index_put({x}, [{indices}torch.tensor([0])], {x}[{before}:1] * 3)",
            f"torch.slice_scatter({x}, {x}[{before}:1] + 1, {dim}, 0, 1)",
            f"torch.select_scatter({x}, {x}.select({dim}, 0) * 2, {dim}, {pick(0, -1)})",
            f"{x}.masked_fill({x} < 0, 0.0)",
            f"{x}.index_copy({dim}, torch.tensor([0]), {x}[{before}-1:])",
            f"torch.ops.aten.index_put({x}, [{indices}torch.tensor([0, 0])], {x}[{before}:1], True)",
            f"{x}.scatter({dim}, torch.zeros({[1] * rank}, dtype=torch.int64), 1.0)",
            f"torch.where({x} > 0, {x}, torch.zeros_like({x}))",
            f"{x}.tril()",
            f"torch.ops.aten.index_put({x}, [{indices}torch.tensor([0])], torch.tensor(2.0).to({x}.dtype))",
        )
    )


def write_input(w: Writer, pick: Pick) -> None:
    """Writes to an input. The caller sees the change."""
    names = [f"x{i}" for i, one in enumerate(w.inputs) if one.kind == "floats"]
    name = pick(*names)
    w.statement(pick(f"{name}.add_(1)", f"{name}.mul_(0.5)", f"{name}.copy_({name} + 1)", f"{name}[:1] = 0.25"))
