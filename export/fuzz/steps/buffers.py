"""Steps that write buffers from other buffers, from views and from inputs, and that read buffers before and after."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer


def _state(w: Writer, pick: Pick, kind: str = "state") -> str:
    """Adds a buffer of the latest value's sizes. Returns its name."""
    w.check_floats()
    return w.buffer(f"torch.{pick('randn', 'zeros', 'ones')}({tuple(w.x.shape)})", kind)


def _read(w: Writer, pick: Pick, name: str) -> str:
    """Adds a value that reads a buffer. Returns its name."""
    x = w.latest
    rank = w.x.dim()
    return w.value(
        pick(
            f"{x} + {name}",
            f"{name} * {x}",
            f"{name} * 1",
            f"{name}.clone()",
            f"{name}",
            f"{x} + {name}.flip(0)",
            f"{x} - {name}.mean({rank - 1}, keepdim=True)",
            f"{name}.view(-1) * 2",
            f"{name}[:1] + {x}",
        )
    )


def copied_buffer(w: Writer, pick: Pick) -> None:
    """Assigns a buffer from another buffer, from a view, from an input or from a constant."""
    x = w.latest
    one, other = _state(w, pick), _state(w, pick)
    sizes = tuple(w.x.shape)
    inputs = [f"x{index}" for index, given in enumerate(w.inputs) if given.sizes == sizes and given.kind == "floats"]
    before = pick(True, True, False)
    if before:
        x = _read(w, Pick(()), one)
    source = pick(
        other,
        f"{other}.flip(0)",
        f"{other}.view(-1).view({sizes})",
        f"{other}[:1]",
        f"{other}.clone()",
        f"torch.ones_like({one})",
        f"torch.zeros({sizes})",
        inputs[0] if inputs else other,
        f"{inputs[0]}[:1]" if inputs else f"{other}[-1]",
        f"{other} * 0.5 + {other}",
    )
    w.statement(pick(f"{one}.copy_({source})", f"{one}[:] = {source}"))
    written = pick("", f"{other}.copy_({x})", f"{other}.add_(1)", f"{other}.mul_(0.5)", f"{other}.copy_({one} + {x})")
    if written:
        w.statement(written)
    if pick(False, True) or not before:
        _read(w, pick, pick(one, other))


def delay_line(w: Writer, pick: Pick) -> None:
    """Moves buffers on by one, and puts the latest value into the last one."""
    x = w.latest
    way = pick("buffers", "buffers", "rows", "joined", "ring")
    if way == "buffers":
        names = [_state(w, pick, "delay") for _ in range(pick(3, 2))]
        is_before = pick(True, False)
        if is_before:
            w.value(f"{' + '.join(names)} + {x}")
        for name, source in zip(names, [*names[1:], x], strict=True):
            w.statement(f"{name}.copy_({source})")
        if not is_before:
            w.value(f"{' + '.join(names)} * 0.5")
        return
    w.check_floats()
    length = pick(3, 2)
    row = w.value(f"{x}.mean(0)") if w.x.dim() > 1 else x
    name = w.buffer(f"torch.randn({(length, *w.x.shape)})", "delay")
    if way == "rows":
        w.statement(f"{name}[:-1] = {name}[1:].clone()")
        w.statement(f"{name}[-1] = {row}")
    elif way == "joined":
        w.statement(f"{name}.copy_(torch.cat([{name}[1:], {row}[None]]))")
    else:
        count = w.buffer("torch.zeros(1, dtype=torch.int64)", "count")
        w.statement(f"{name}.index_copy_(0, {count} % {length}, {row}[None])")
        w.statement(f"{count}.add_(1)")
    w.value(pick(f"{x} + {name}.sum(0)", f"{name} * 1", f"{name}.flatten(1)", f"{name}[0] - {name}[1]"))


def swap(w: Writer, pick: Pick) -> None:
    """Swaps two buffers, or writes each into the other."""
    x = w.latest
    one, other = _state(w, Pick(())), _state(w, Pick((1,)))
    if pick(True, False):
        x = w.value(f"{x} * {one} + {other}")
    way = pick("clone", "none", "both", "value")
    first = w.value(f"{one} + 0") if way == "value" else w.value(f"{one}{'' if way == 'none' else '.clone()'}")
    second = w.value(f"{other}.clone()") if way == "both" else other
    w.statement(f"{one}.copy_({second})")
    w.statement(f"{other}.copy_({first}{pick('', f' + {x}')})")
    _read(w, pick, pick(one, other))


def old_state(w: Writer, pick: Pick) -> None:
    """Returns what a buffer held before it is written."""
    x = w.latest
    name = _state(w, pick)
    view = pick("", "", ".view(-1)", "[0]", ".transpose(0, -1)", "[:1]")
    old = w.value(f"{name}{view}{pick('.clone()', ' * 1', '')}")
    w.statement(
        pick(
            f"{name}.copy_({x})",
            f"{name}.add_({x})",
            f"{name}.copy_(torch.tanh({name} + {x}))",
            f"{name}.zero_()",
            f"{name}[0] = 1.5",
            f"{name}.mul_(0.5).add_({x})",
            f"{name}.lerp_({x}, 0.25)",
        )
    )
    w.gives.append(old)
    w.value(pick(f"{x} * 2", f"{x} + {name}", f"{name} * 1"))


def read_view(w: Writer, pick: Pick) -> None:
    """Reads a view of a buffer before and after the buffer is written."""
    x, rank = w.latest, w.x.dim()
    name = _state(w, pick)
    view = w.value(
        name
        + pick(".view(-1)", ".transpose(0, -1)", "[0]", ".view(-1)[1:3]", ".unsqueeze(0)", "[..., :1]", ".flatten()")
    )
    w.gives.append(w.value(f"{view} * 2"))
    w.statement(pick(f"{name}.add_({x})", f"{name}.copy_({x})", f"{name}[..., 0] = 0.5", f"{view}.mul_(0.5)"))
    if pick(False, True):
        w.statement(pick(f"{view}.add_(1)", f"{name}.sub_({x})"))
    w.gives.append(w.value(f"{view} + 1"))
    w.value(pick(f"{x} + {name}", f"{name}.sum({rank - 1}) * 0.1", f"{view}.clone()"))


def two_writes(w: Writer, pick: Pick) -> None:
    """Writes a buffer twice, and reads between or after the writes."""
    x = w.latest
    name = _state(w, pick)
    other = pick(x, f"torch.relu({x})", f"{name} * 0.5")
    w.statement(pick(f"{name}.copy_({x})", f"{name}.add_({other})", f"{name}[0] = 2.0"))
    if pick(True, False):
        w.gives.append(w.value(pick(f"{name} * 1", f"{name}[0] + 1", f"{name}")))
    w.statement(pick(f"{name}.mul_(0.5)", f"{name}.copy_({other})", f"{name}.view(-1)[:2] = 0.25", f"{name} += 1"))
    w.value(pick(f"{x} + {name}", f"{name} - {x}", f"{x} * 2"))


def written_weight(w: Writer, pick: Pick) -> None:
    """Writes a weight between two layers that read it."""
    x = w.latest
    features = w.x.shape[-1]
    values = f"torch.randn({features}, {features}) / 8"
    weight = w.buffer(values, "kept") if pick(True, True, False) else w.layer(f"nn.Parameter({values})", "kept")
    y = w.value(f"F.linear({x}, {weight})")
    source = w.buffer(values, "next")
    w.statement(
        pick(
            f"{weight}.mul_(0.5)",
            f"{weight}.copy_({source})",
            f"{weight}[0] = 0.25",
            f"{weight}.add_({source}, alpha=0.5)",
            f"{weight}.copy_({weight}.t())",
        )
    )
    second = w.value(f"F.linear({pick(x, y)}, {weight})")
    w.value(f"{y} + {second}")


def index_after_copy(w: Writer, pick: Pick) -> None:
    """Copies a buffer from another one, and writes rows of one of these."""
    x, count = w.latest, w.x.shape[0] if w.x.dim() else 0
    one, other = _state(w, pick), _state(w, pick)
    w.statement(f"{one}.copy_({other})")
    written = pick(other, one)
    positions = w.input("positions", count, bound=count) if pick(True, False) else f"torch.arange({count})"
    w.statement(
        pick(
            f"{written}.index_copy_(0, {positions}, {x})",
            f"{written}[{positions}] = {x}",
            f"{written}.index_add_(0, {positions}, {x})",
            f"{written}.index_fill_(0, {positions}[:1], 1.5)",
        )
    )
    y = w.value(pick(f"{one} + {x}", f"{one} * 1", f"{one}"))
    w.value(pick(f"{y} - {other}", f"{other} * 1"))


def write_of_view(w: Writer, pick: Pick) -> None:
    """Writes a buffer through a view."""
    x = w.latest
    name = _state(w, pick)
    w.statement(
        name
        + pick(
            ".view(-1)[2:4] = 0.5",
            "[0].add_(1)",
            f".view(-1)[:2].copy_({x}.reshape(-1)[:2])",
            f".transpose(0, -1)[0] = {x}.transpose(0, -1)[0]",
            ".unbind()[0].mul_(0.5)",
            ".chunk(2, -1)[-1].fill_(0.25)",
            f".narrow(0, 0, 1).add_({x}[:1])",
            f".flatten().index_copy_(0, torch.tensor([1, 0]), {x}.reshape(-1)[:2])",
            f".unsqueeze(0).copy_({x}[None])",
            f"[..., ::2] = {x}[..., ::2] * 2",
        )
    )
    _read(w, pick, name)


def returned_buffer(w: Writer, pick: Pick) -> None:
    """Returns a buffer or views of it, before or after a write."""
    x = w.latest
    name = _state(w, pick)
    written = pick(f"{name}.add_({x})", f"{name}.copy_({x})", f"{name}[0] = 1.0")
    if is_first := pick(True, False):
        w.statement(written)
    w.gives.append(w.value(name))
    if pick(False, True):
        w.gives.append(w.value(f"{name}{pick('.view(-1)', '[0]', '.transpose(0, -1)')}"))
    if not is_first:
        w.statement(written)
    w.value(pick(f"{x} * 2", f"{x} + {name}"))


def running_mean(w: Writer, pick: Pick) -> None:
    """Keeps statistics of the latest value, and normalizes by these."""
    x = w.latest
    features = w.x.shape[-1]
    mean = w.buffer(f"torch.zeros({features})", "mean")
    scale = w.buffer(f"torch.ones({features})", "scale")
    now = w.value(f"{x}.reshape(-1, {features}).mean(0)")
    w.statement(pick(f"{mean}.mul_(0.9).add_({now}, alpha=0.1)", f"{mean}.lerp_({now}, 0.1)", f"{mean} += {now}"))
    w.statement(pick(f"{scale}.copy_(1 + {mean}.abs())", f"{scale}.copy_({mean}.square() + 1)", f"{scale}.add_(1)"))
    w.value(f"({x} - {mean}) / {scale}")


def initial_state(w: Writer, pick: Pick) -> None:
    """Resets a buffer to its initial state, always or if an input says so."""
    x = w.latest
    state, initial = _state(w, pick), _state(w, pick, "initial")
    way = pick("always", "where", "mask")
    if way == "always":
        w.value(f"{x} + {state}")
        w.statement(f"{state}.copy_({initial})")
    elif way == "where":
        w.statement(f"{state}.copy_(torch.where({x}.sum() > 0, {initial}, {state} + {x}))")
        w.value(f"{state} * 1")
    else:
        mask = w.input("bools", 1)
        w.statement(f"{state}.copy_({state} * {mask} + {initial} * ~{mask})")
        w.value(f"{state} + {x}")
    if pick(False, True):
        w.statement(f"{initial}.{pick('copy_', 'add_')}({x})")


def kept_keys(w: Writer, pick: Pick) -> None:
    """Adds attention with a cache of keys and values that is written in place."""
    x = w.use(3)
    batch, count, features = w.x.shape
    heads = pick(2, 1)
    size, length = pick(4, 8), count * 3
    sizes = (batch, heads, length, size)
    query, key, value = (
        w.value(
            f"{w.layer(f'nn.Linear({features}, {heads * size})')}({x})"
            f".view({batch}, {count}, {heads}, {size}).transpose(1, 2)"
        )
        for _ in range(3)
    )
    keys, values = (w.buffer(f"torch.zeros({sizes})", "cache") for _ in range(2))
    way = pick("positions", "count", "roll", "first")
    mask = ""
    if way == "positions":
        positions = w.input("positions", count, bound=length)
        for cache, new in ((keys, key), (values, value)):
            w.statement(pick(f"{cache}[:, :, {positions}] = {new}", f"{cache}.index_copy_(2, {positions}, {new})"))
    elif way == "count":
        at = w.buffer("torch.zeros(1, dtype=torch.int64)", "count")
        positions = w.value(f"({at} + torch.arange({count})) % {length}")
        for cache, new in ((keys, key), (values, value)):
            w.statement(f"{cache}.index_copy_(2, {positions}, {new})")
        mask = f", attn_mask=(torch.arange({length}) <= {positions}[:, None])"
        w.statement(f"{at}.add_({count})")
    elif way == "roll":
        for cache, new in ((keys, key), (values, value)):
            w.statement(f"{cache}.copy_(torch.cat([{cache}[:, :, {count}:], {new}], 2))")
    else:
        for cache, new in ((keys, key), (values, value)):
            w.statement(f"{cache}[:, :, :{count}] = {new}")
    result = w.value(f"F.scaled_dot_product_attention({query}, {keys}, {values}{mask})")
    w.value(f"{result}.transpose(1, 2).{pick('flatten(2)', f'reshape({batch}, {count}, -1)')}")
