"""Steps on tokens: embeddings and attention."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer


def embedding(w: Writer, pick: Pick) -> None:
    """Looks up the ids of a new input. The module continues with the embedding, or adds the embedding."""
    features = pick(16, 48, 32, w.x.shape[-1] if w.x.dim() else 8)
    layer = w.layer(f"nn.Embedding({(bound := pick(8, 48, 96))}, {features})", "embedding")
    ids = w.input("ids", pick(2, 1), pick(5, 3, 1), bound=bound)
    w.value(f"{layer}({ids})")
    w.tied.append(layer)


def tied_linear(w: Writer, pick: Pick) -> None:
    """A linear layer with the weight of an embedding or of another linear layer."""
    if not w.tied:
        embedding(w, pick)
    tied = pick(*w.tied[::-1])
    w.value(f"F.linear({w.latest}, {tied}.weight)")


def _heads(w: Writer, pick: Pick, x: str, heads: int, size: int) -> str:
    """Adds the queries, keys or values of tokens: a linear layer, and its result split into heads."""
    layer = w.layer(f"nn.Linear({w.values[x].shape[-1]}, {heads * size}, bias={pick(True, False)})")
    name = w.value(f"{layer}({x})")
    if pick(False, True):
        b, t = w.values[x].shape[:2]
        return w.value(f"{name}.view({b}, {t}, {heads}, {size}).transpose(1, 2)")
    return w.value(f"{name}.unflatten(-1, ({heads}, {size})).transpose(1, 2)")


def _mask(w: Writer, pick: Pick, weights: tuple[int, int, int, int]) -> str:
    """Adds a mask for attention weights [batch, heads, queries, keys]. Returns the mask's expression."""
    batch, heads, queries, keys = weights
    sizes = (*pick((), (1, 1), (batch, 1), (batch, heads), (1, heads)), pick(queries, queries, 1), keys)
    kind = pick("buffer", "bools", "floats", "written", "row", "triangle")
    if kind == "buffer":
        return w.buffer(f"torch.randn({sizes})", "mask")
    if kind == "bools":
        return w.input("bools", *sizes)
    if kind == "floats":
        return w.input("floats", *sizes)
    if kind == "row":  # A padding mask, which may hide all keys of a row.
        return w.buffer(f"(torch.arange({keys}) < {max(1, keys - 1)}).expand({sizes}).clone()", "mask")
    if kind == "triangle":
        return w.buffer(f"torch.full(({queries}, {keys}), float('-inf')).triu(1)", "mask")
    return f"torch.ones({queries}, {keys}, dtype=torch.bool).tril({pick(0, 1)})"


def attention(w: Writer, pick: Pick) -> None:
    """Adds attention of tokens [batch, length, features] with all or some of these tokens. Heads may share keys."""
    x = w.use(3)
    batch, length, _ = w.x.shape
    heads = pick(2, 1, 4)
    size = pick(8, 4, 16, 1)
    shared = pick(1, 2) if heads > 1 else 1
    source = x
    if pick(False, True) and length > 1:
        source = w.value(pick(f"{x}[:, 1:]", f"{x}[:, :-1]", f"torch.cat([{x}, {x}], 1)"))
    query = _heads(w, pick, x, heads, size)
    key, value = (_heads(w, pick, source, heads // shared, size) for _ in range(2))
    more = ""
    if shared > 1:
        way = pick("repeat_interleave", "expand", "enable_gqa")
        if way == "enable_gqa":
            more += ", enable_gqa=True"
        else:
            keys = w.values[source].shape[1]
            given, all_heads = heads // shared, (batch, heads, keys, size)
            for_all = f"[:, :, None].expand({batch}, {given}, {shared}, {keys}, {size}).reshape({all_heads})"
            for_all = for_all if way == "expand" else f".repeat_interleave({shared}, 1)"
            key, value = w.value(key + for_all), w.value(value + for_all)
    if pick(True, False):
        more += pick("", f", scale={pick(0.5, 0.125)}")
    keys = w.values[key].shape[2]
    kind = pick("none", "mask", "causal", "written")
    if kind == "written":
        weights = w.value(f"{query} @ {key}.transpose(-2, -1) * {size**-0.5}")
        if pick(False, True):
            weights = w.value(f"{weights} + {_mask(w, Pick(()), (batch, heads, length, keys))}")
        weights = w.value(f"torch.softmax({weights}, dim=-1{pick('', ', dtype=torch.float32')}).to({x}.dtype)")
        result = w.value(f"{weights} @ {value}")
    else:
        if kind == "mask":
            more += f", attn_mask={_mask(w, pick, (batch, heads, length, keys))}"
        if kind == "causal":
            more += ", is_causal=True"
        result = w.value(f"F.scaled_dot_product_attention({query}, {key}, {value}{more})")
    if pick(True, True, False):
        w.value(f"{result}.transpose(1, 2).flatten(2)")


def flexible_attention(w: Writer, pick: Pick) -> None:
    """Adds attention whose scores and whose mask are functions of indices. Heads may share keys."""
    x = w.use(3)
    batch, length, _ = w.x.shape
    heads, size = pick(2, 4, 1), pick(8, 4, 16)
    shared = pick(1, 2) if heads > 1 else 1
    query = _heads(w, pick, x, heads, size)
    key, value = (_heads(w, pick, x, heads // shared, size) for _ in range(2))
    more = "" if shared == 1 else ", enable_gqa=True"
    score = pick("", "s + TABLE[h, q - k + LAST]", "20 * torch.tanh(s / 20)", "s - (q - k).abs() * 0.5 ** h", "s * 0.3")
    mask = pick("", "q >= k", "(q - k).abs() < 3", "(q >= k) & (IDS[b, q] == IDS[b, k])", "q > k", "(h == 0) | (q < k)")
    if "TABLE" in score:
        table = w.buffer(f"torch.randn({heads}, {2 * length - 1})", "table")
        score = score.replace("TABLE", table).replace("LAST", str(length - 1))
    if score:
        more += f", score_mod=lambda s, b, h, q, k: {score}"
    if "IDS" in mask:
        mask = mask.replace("IDS", w.input("ids", batch, length, bound=2))
    if mask:
        sizes = f"{batch}, {heads}, {length}, {length}, device='cpu'"
        more += f", block_mask=create_block_mask(lambda b, h, q, k: {mask}, {sizes})"
    result = w.value(f"flex_attention({query}, {key}, {value}{more}{pick('', ', scale=0.5')})")
    if pick(True, False):
        w.value(f"{result}.transpose(1, 2).flatten(2)")


def bare_attention(w: Writer, pick: Pick) -> None:
    """Adds attention of inputs and values without linear layers. Leading dimensions broadcast."""
    x = w.latest
    rank = w.x.dim()
    if rank < 2:
        raise ValueError("no tokens")
    features = w.x.shape[-1]
    keys = pick(w.x.shape[-2], 3, 7)
    leading = tuple(size if pick(True, False) else 1 for size in w.x.shape[:-2])[pick(0, 0, max(0, rank - 2)) :]
    key = w.input("floats", *leading, keys, features)
    value = w.input("floats", *leading, keys, pick(features, 4)) if pick(False, True) else key
    more = pick("", ", is_causal=True", ", scale=0.3", ", attn_mask=")
    if more.endswith("="):
        more += w.input("bools", w.x.shape[-2], keys)
    w.value(f"F.scaled_dot_product_attention({x}, {key}, {value}{more})")
