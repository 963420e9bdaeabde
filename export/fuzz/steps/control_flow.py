"""Steps with control flow: conditions, maps over rows, and scans."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer

# Branches, which return no alias of their argument.
_PLAIN = ("v * 2", "v + 1", "torch.relu(v)", "torch.sin(v)", "v - 0.5", "-v", "torch.sigmoid(v) * v", "v.clone()")


def _predicate(w: Writer, pick: Pick, name: str) -> str:
    """Returns an expression of a bool, of a value, of an input or of state."""
    kind = pick("sum", "input", "mean", "amax", "state", "first")
    if kind == "input":
        return f"{w.input('bools', 1)}[0]"
    if kind == "state":
        count = w.buffer("torch.zeros(1, dtype=torch.int64)", "count")
        w.statement(f"{count}.add_(1)")
        return f"{count}[0] > 1"
    if kind == "first":
        return f"{name}.reshape(-1)[0] > 0"
    return f"{name}.{kind}() > {pick(0, 0.25)}"


def _branch(w: Writer, pick: Pick, features: int) -> str:
    """Returns an expression of `v` that keeps its sizes: a plain one, or one with a layer."""
    kind = pick("plain", "plain", "linear", "norm", "two")
    if kind == "linear":
        return f"{w.layer(f'nn.Linear({features}, {features})')}(v)"
    if kind == "norm":
        return f"{w.layer(f'nn.LayerNorm({features})', 'norm')}(v) + 1"
    first = pick(*_PLAIN)
    return f"torch.tanh({first}) + v" if kind == "two" else first


def _function(w: Writer, pick: Pick, features: int) -> str:
    return w.function("v", f"return {_branch(w, pick, features)}")


def _after(w: Writer, pick: Pick, name: str) -> None:
    """Adds a view or a layer of a result of control flow."""
    x = w.values[name]
    features = x.shape[-1]
    layer = pick("", f"nn.Linear({features}, {pick(4, features)})", "convolution")
    y = w.value(
        name
        + pick(
            "",
            ".view(-1)",
            ".flatten()",
            ".unsqueeze(0)",
            f".reshape({x.shape[0]}, -1)",
            ".transpose(0, -1)",
            " * 2",
            "[0]",
            ".unsqueeze(0) + 1",
            ".contiguous()",
        )
    )
    if layer == "convolution":
        y = name
        if x.dim() == 1:
            y = w.value(f"{name}[None, None]")
        elif x.dim() == 2:
            y = w.value(f"{name}.unsqueeze(0)")
        if w.values[y].dim() != 3:
            return
        layer = f"nn.Conv1d({w.values[y].shape[1]}, {pick(2, 8)}, {pick(1, 3)}, padding=1)"
    elif layer:
        y = name
    if layer:
        w.value(f"{w.layer(layer)}({y})")


def one_condition(w: Writer, pick: Pick) -> None:
    w.check_floats()
    x, features = w.latest, w.x.shape[-1]
    is_true, is_false = (_function(w, pick, features) for _ in range(2))
    y = w.value(f"cond({_predicate(w, pick, x)}, {is_true}, {is_false}, ({x},))")
    if pick(False, True):
        w.gives.append(y)
    _after(w, pick, y)


def two_conditions(w: Writer, pick: Pick) -> None:
    """Adds two conditions on one value, or a condition on the result of another one."""
    w.check_floats()
    x, features = w.latest, w.x.shape[-1]
    functions = [_function(w, pick, features) for _ in range(3)]
    first = w.value(f"cond({_predicate(w, pick, x)}, {functions[0]}, {functions[1]}, ({x},))")
    source = pick(x, first)
    second = w.value(f"cond({_predicate(w, pick, source)}, {functions[1]}, {functions[2]}, ({source},))")
    if pick(False, True):
        w.gives.append(first)
    w.value(pick(f"{first} - {second}", f"{first} + {second} * {x}", f"torch.cat([{first}, {second}])"))
    _after(w, pick, w.latest)


def nested_condition(w: Writer, pick: Pick) -> None:
    w.check_floats()
    x, features = w.latest, w.x.shape[-1]
    inner = [_function(w, pick, features) for _ in range(2)]
    predicate = pick("v.sum() > 0", "v.mean() > 0.5", "v.amax() < 2")
    outer = w.function(
        "v", f"y = cond({predicate}, {inner[0]}, {inner[1]}, (v,))", f"return y{pick(' + 1', ' * v', '.clone()')}"
    )
    other = inner[0] if pick(True, False) else _function(w, pick, features)
    branches = pick(f"{outer}, {other}", f"{other}, {outer}")
    y = w.value(f"cond({_predicate(w, pick, x)}, {branches}, ({x},))")
    w.value(pick(f"{y} + {x}", f"{y} * 1", f"{x} - {y}"))
    _after(w, pick, y)


def condition_of_two(w: Writer, pick: Pick) -> None:
    """Adds a condition with two results, or with two operands."""
    w.check_floats()
    x, features = w.latest, w.x.shape[-1]
    other = w.value(pick(f"{x} * 0.5", f"torch.tanh({x})", f"{x}.clone()"))
    pairs = [
        w.function(
            "v, u", f"y = {_branch(w, pick, features)}", f"return {pick('y, u + v', 'u * 2, y', 'y + u, v * u')}"
        )
        for _ in range(2)
    ]
    first, second = w.pair(f"cond({_predicate(w, pick, x)}, {pairs[0]}, {pairs[1]}, ({x}, {other}))")
    if pick(False, True):
        w.gives += [first, second]
    w.value(pick(f"{first} - {second}", f"{second} + {other}", f"torch.stack([{second}, {first}])"))
    _after(w, pick, pick(w.latest, second))


def mapped_rows(w: Writer, pick: Pick) -> None:
    """Maps a function over rows, sometimes after a condition."""
    w.check_floats()
    if w.x.dim() < 2 or w.x.shape[0] > 16:
        raise ValueError("no rows, or too many")
    x, features = w.latest, w.x.shape[-1]
    if pick(False, True):
        functions = [_function(w, pick, features) for _ in range(2)]
        x = w.value(f"cond({_predicate(w, pick, x)}, {functions[0]}, {functions[1]}, ({x},))")
    of_row = _function(w, pick, features)
    if pick(False, True):
        y = w.value(f"map_rows({w.function('v, u', f'return {of_row}(v) + u')}, {x}, {x}[0] * 2)")
    else:
        y = w.value(f"map_rows({of_row}, {x})")
    if pick(False, True):
        w.gives.append(y)
    w.value(f"{y} + {x}")
    _after(w, pick, y)


def scanned_rows(w: Writer, pick: Pick) -> None:
    """Scans rows, forward or in reverse, sometimes with a layer inside."""
    w.check_floats()
    if w.x.dim() < 2 or w.x.shape[0] > 16:
        raise ValueError("no rows, or too many")
    if not w.x.is_contiguous():  # PyTorch refuses a carry whose order in memory changes.
        w.value(f"{w.latest}.contiguous()")
    x, features = w.latest, w.x.shape[-1]
    branch = _branch(w, pick, features)
    reverse = pick("", ", reverse=True")
    start = pick(f"torch.zeros_like({x}[0])", f"{x}[0] * 0.5", f"torch.ones_like({x}[0])")
    function = w.function(
        "c, v",
        f"c = torch.tanh({branch} + c)",
        f"return c, {pick('c * 2', 'c + v', 'c.clone()', 'v * 0.5')}",
    )
    carry, rows = w.pair(f"scan({function}, {start}, {x}, dim=0{reverse})")
    if pick(False, True):
        w.gives += [carry, rows]
    w.value(pick(f"{rows} + {carry}", f"{rows} * 2", f"{x} - {rows}"))
    _after(w, pick, pick(rows, carry))
