"""Steps that assign buffers, write at positions that buffers give, and branch on buffers."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer


def _owner(w: Writer, pick: Pick) -> str:
    """Adds a submodule for buffers. Returns its name; empty for the module itself."""
    part = pick("nn.Module()", "", "nn.ModuleList([nn.Module()])")
    return w.layer(part, "part") + ("[0]" if "List" in part else "") if part else ""


def assigned(w: Writer, pick: Pick) -> None:
    """Assigns values, views, inputs and other buffers to buffers of the module and of submodules."""
    w.check_floats()
    x, sizes = w.latest, tuple(w.x.shape)
    values = f"torch.{pick('zeros', 'randn')}({sizes}).to({w.x.dtype})"
    one, other = (w.buffer(values, "state", owner=_owner(w, pick)) for _ in range(2))
    inputs = [f"x{index}" for index, given in enumerate(w.inputs) if given.sizes == sizes and given.kind == "floats"]
    if pick(True, False):
        w.gives.append(w.value(pick(f"{one} + {x}", f"{one} * {other}", f"{one}.reshape(-1) * 2", one)))
    for _ in range(pick(1, 2, 3)):
        target, source = pick((one, other), (other, one))
        w.statement(
            pick(
                f"{target} = {x} * 2",
                f"{target} = {x}",
                f"{target} = {source}",
                f"{target}, {source} = {source}, {target}",
                f"{target} = {source} + {x}",
                f"{target} = torch.cat([{x}, {x} * 2])[{sizes[0]}:]",
                f"{target} = {source}.reshape(-1).reshape({sizes})",
                f"{target} = torch.zeros({sizes}, dtype={target}.dtype)",
                f"{target} = {inputs[0] if inputs else source}",
                f"{target} = {target}.flip(0)",
                f"{target} = torch.where({x} > 0, {target}, {source})",
                f"{target}.add_(1)",
                f"{target}.copy_({source})",
                f"{target}.copy_({x})",
            )
        )
        if pick(False, True):
            w.gives.append(w.value(pick(f"{target} * 2", f"{source} + 1", f"{target}.reshape(-1)", target)))
    w.value(pick(f"{x} + {one}", f"{x} * 2 - {other}", f"{one} * 1"))


def at_position(w: Writer, pick: Pick) -> None:
    """Writes rows into a cache at the position that a buffer gives, and moves on."""
    w.check_floats()
    rank, x = w.x.dim(), w.latest
    dim = pick(*range(rank))
    count = w.x.shape[dim]
    owner = _owner(w, pick)
    sizes = tuple(4 * size if one == dim else size for one, size in enumerate(w.x.shape))
    name = w.buffer(f"torch.zeros({sizes}).to({w.x.dtype})", "cache", owner=owner)
    at = w.buffer("torch.tensor(0)", "count", owner=owner)
    before = ":, " * dim
    if pick(False, count > 1):
        w.statement(f"{name}[{before}{at} : {at} + {count}] = {x}")
        step = count
    else:
        w.statement(f"{name}[{before}{at}] = {pick(f'{x}.select({dim}, 0)', f'{x}.mean()', '1.5')}")
        step = 1
    w.statement(pick(f"{at} += {step}", f"{at}.add_({step})", f"{at} = {at} + {step}"))
    w.value(pick(f"{name} * 1", name, f"{name}[{before}:{count}] + {x}", f"{x} + {name}.mean()", f"{x} * {at}"))


def known(w: Writer, pick: Pick) -> None:
    """Python code depends on the values of buffers."""
    w.check_floats()
    x, owner = w.latest, _owner(w, pick)
    flag = w.buffer(f"torch.tensor({pick(True, False)})", "flag", owner=owner)
    times = w.buffer("torch.tensor([0.5, 2.0, 1.0])", "times", owner=owner)
    w.value(
        pick(
            f"{x} * 2 if {flag} else {x} - 1",
            f"sum({x} * t for t in {times} if t > 0.75)",
            f"{x} * float({times}[1])",
            f"torch.cat([{x}[None]] * int({times}[1] * 2 + 0.5))",
            f"{x} + {times}[1] if bool(({times}[1:] > 0.75).all()) else {x}",
        )
    )
    if pick(False, False, True):
        w.statement(pick(f"{times}[1] = 3.0", f"{flag} = ~{flag}", f"{times}.mul_(0.5)"))
