"""Steps with recurrent layers and cells."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer

_MOST_STEPS = 8


def _sequence(w: Writer, pick: Pick) -> str:
    """Returns the name of a value [batch, steps, features] of the latest value.

    Raises:
        ValueError: there is none.
    """
    x, sizes = w.latest, w.x.shape
    if w.x.dim() < 2 or not w.x.numel():
        raise ValueError("no sequence")
    if w.x.dim() == 2:
        return w.value(f"{x}[None]")
    if w.x.dim() > 3:
        x = w.value(pick(f"{x}.flatten(2)", f"{x}.flatten(2).mT", f"{x}.flatten(0, -3)"))
        sizes = w.x.shape
    if sizes[1] > _MOST_STEPS:
        x = w.value(f"{x}[:, :{pick(5, 3)}]")
    return x


def recurrent_layer(w: Writer, pick: Pick) -> None:
    x = _sequence(w, pick)
    features = w.values[x].shape[-1]
    kind = pick("LSTM", "GRU", "RNN")
    is_first = pick(True, False)
    size = pick(8, 4, features)
    more = pick("", "", ", bidirectional=True", ", num_layers=2, dropout=0.5", ", bias=False")
    if kind == "RNN":
        more += pick("", ", nonlinearity='relu'")
    if kind == "LSTM":
        more += pick("", ", proj_size=3")
    layer = w.layer(f"nn.{kind}({features}, {size}, batch_first={is_first}{more})", "recurrent")
    results = f"{layer}({x if is_first else f'{x}.transpose(0, 1)'})"
    if pick(False, True):
        last = w.value(f"{results}[1]{'[0]' if kind == 'LSTM' else ''}")
        w.value(pick(f"{last}[-1]", f"{last}.transpose(0, 1).flatten(1)"))
        return
    y = w.value(f"{results}[0]")
    w.value(y + pick("", "[:, -1]", ".transpose(0, 1)", ".mean(1)", " * 2"))


def recurrent_state(w: Writer, pick: Pick) -> None:
    """Adds a recurrent layer whose state is kept in buffers."""
    x = _sequence(w, pick)
    batch, _, features = w.values[x].shape
    size = pick(8, 4)
    kind = pick("GRU", "LSTM")
    layer = w.layer(f"nn.{kind}({features}, {size}, batch_first=True)", "recurrent")
    hidden = w.buffer(f"torch.{pick('zeros', 'randn')}(1, {batch}, {size})", "hidden")
    if kind == "GRU":
        y, state = w.pair(f"{layer}({x}, {hidden})")
        w.statement(pick(f"{hidden}.copy_({state})", f"{hidden}[:] = {state}"))
    else:
        cell = w.buffer(f"torch.zeros(1, {batch}, {size})", "cell")
        y = w.value(f"{layer}({x}, ({hidden}, {cell}))[0]")
        states = w.pair(f"{layer}({x}, ({hidden}, {cell}))[1]")
        for name, state in zip((hidden, cell), states, strict=True):
            w.statement(f"{name}.copy_({state})")
    w.value(pick(f"{y} * 2", f"{y} + {hidden}.transpose(0, 1)", y))


def recurrent_cell(w: Writer, pick: Pick) -> None:
    """Adds a cell that runs for some steps, or whose state is kept in a buffer."""
    x = _sequence(w, pick)
    batch, steps, features = w.values[x].shape
    size = pick(8, 4)
    kind = pick("GRUCell", "LSTMCell", "RNNCell")
    cell = w.layer(f"nn.{kind}({features}, {size})", "recurrent")
    is_kept = pick(True, False)
    zeros = f"torch.zeros({batch}, {size})"
    hidden = w.buffer(zeros, "hidden") if is_kept else w.value(f"{x}.new_zeros({batch}, {size})")
    if kind == "LSTMCell":
        other = w.buffer(zeros, "cell") if is_kept else w.value(f"{x}.new_ones({batch}, {size})")
        now, of_cell = w.pair(f"{cell}({x}[:, 0], ({hidden}, {other}))")
        if is_kept:
            w.statement(f"{other}.copy_({of_cell})")
    else:
        now = w.value(f"{cell}({x}[:, 0], {hidden})")
        for step in range(1, min(steps, pick(1, 3))):
            now = w.value(f"{cell}({x}[:, {step}], {now})")
    if is_kept:
        w.statement(f"{hidden}.copy_({now})")
    w.value(pick(f"{now} * 2", f"torch.stack([{now}, {hidden}], 1)", f"{now} + {hidden}"))
