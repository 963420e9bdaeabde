"""Steps that add any layer of torch.nn, with its less common options."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer

# Layers by the least and the largest number of dimensions of their input. {c} is the number of channels in dimension 1,
# {f} the size of the last dimension, {k} a size of a kernel, and {n} the number of dimensions of images.
_LAYERS: dict[tuple[int, int], tuple[str, ...]] = {
    (1, 5): (
        *("Softmin(-1)", "LogSoftmax(-1)", "Softsign()", "Tanhshrink()", "Threshold(0.1, -1)", "Identity()"),
        *("RReLU()", "AlphaDropout(0.5)", "CELU(0.7)", "Hardtanh(-1.5, 0.5)", "PReLU()", "RMSNorm({f}, eps=0.1)"),
        *("LayerNorm({f}, bias=False)", "LayerNorm({f}, elementwise_affine=False)", "GELU('tanh')", "SiLU(True)"),
    ),
    (2, 5): (
        *("PReLU({c})", "Flatten()", "Flatten(0, -2)", "GroupNorm(1, {c}, affine=False)", "Unflatten(1, (1, {c}))"),
        *("Sequential(nn.Linear({f}, 8), nn.PReLU(), nn.Dropout(), nn.Linear(8, {f}))"),
    ),
    (3, 3): (
        *("MaxPool1d(2, ceil_mode=True)", "MaxPool1d(3, 2, 1, dilation=2)", "LPPool1d(2, 2)", "Dropout1d()"),
        *("AvgPool1d(3, 2, 1, ceil_mode=True)", "AvgPool1d(3, 2, 1, count_include_pad=False)"),
        *("Upsample(scale_factor=2, mode='linear')", "Upsample(7, mode='linear', align_corners=True)"),
    ),
    (4, 4): (
        *("MaxPool2d(2, ceil_mode=True)", "MaxPool2d(3, 2, 1, dilation=2)", "LPPool2d(2, (2, 1))", "Softmax2d()"),
        *("AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False)", "AvgPool2d(2, divisor_override=3)"),
        *("ChannelShuffle({c})", "UpsamplingBilinear2d(scale_factor=2)", "Unfold(2, 2, 1, 3)", "PixelUnshuffle(2)"),
        *("Upsample((5, 9), mode='bicubic', align_corners=True)", "Upsample(scale_factor=1.5, mode='nearest-exact')"),
        *("AdaptiveMaxPool2d((3, 2))", "AdaptiveAvgPool2d((None, 3))", "Dropout2d()", "LocalResponseNorm(3, 0.1)"),
        *("UpsamplingNearest2d((3, 5))", "Upsample((3, 4), mode='bilinear')"),
    ),
    (5, 5): (
        *("MaxPool3d(2, ceil_mode=True)", "AvgPool3d(2, count_include_pad=False)", "AdaptiveAvgPool3d((2, 1, 3))"),
        *("Upsample(scale_factor=2, mode='trilinear')", "Upsample(scale_factor=2)", "AdaptiveMaxPool3d(2)"),
    ),
    (3, 5): (
        *(
            "Conv{n}d({c}, 6, 3, padding=1, padding_mode='reflect')",
            "Conv{n}d({c}, 6, 3, 2, 1, padding_mode='circular')",
        ),
        *(
            "Conv{n}d({c}, {c}, {k}, dilation=2, padding='same', groups={c})",
            "Conv{n}d({c}, 2 * {c}, 2, 2, groups={c})",
        ),
        *("Conv{n}d({c}, 4, {k}, padding=1, padding_mode='replicate')", "ConvTranspose{n}d({c}, 5, {k}, dilation=2)"),
        *("ConvTranspose{n}d({c}, {c}, 3, 2, 1, 1, groups={c})", "ConvTranspose{n}d({c}, 5, 2, 3, bias=False)"),
        *("ReflectionPad{n}d(1)", "ReplicationPad{n}d(2)", "CircularPad{n}d(1)", "ConstantPad{n}d(1, 1.5)"),
        *(
            "Conv{n}d({c}, 6, 3, 2, 1, padding_mode='circular')",
            "MaxPool{n}d({k}, 1)",
            "AvgPool{n}d(2, 1)",
            "AdaptiveAvgPool{n}d(1)",
        ),
        *("InstanceNorm{n}d({c}, affine=True, track_running_stats=True)", "BatchNorm{n}d({c}, affine=False)"),
        *("BatchNorm{n}d({c}, track_running_stats=False)"),
    ),
}


def layer(w: Writer, pick: Pick) -> None:
    """Adds a layer that takes one tensor."""
    w.check_floats()
    rank = w.x.dim()
    text = pick(*(one for (least, most), of in _LAYERS.items() if least <= rank <= most for one in of))
    text = text.format(c=w.x.shape[min(1, rank - 1)], f=w.x.shape[-1], k=pick(3, 1), n=rank - 2)
    name = w.layer(f"nn.{text}")
    w.value(f"{name}({w.latest})")
    w.layers.append(name)


def _masks(w: Writer, pick: Pick, length: int) -> str:
    """Returns the expression of a mask of all pairs of tokens."""
    kind = pick("none", "causal", "floats", "bools")
    if kind == "none":
        return "None"
    if kind == "causal":
        return f"nn.Transformer.generate_square_subsequent_mask({length}, dtype={w.latest}.dtype)"
    mask = w.input(kind, length, length)
    return mask if kind == "floats" else f"{mask} & ~torch.eye({length}, dtype=torch.bool)"


def transformer_layer(w: Writer, pick: Pick) -> None:
    """Adds a layer of torch.nn with attention."""
    x = w.use(3)
    batch, length, features = w.x.shape
    heads = pick(*(one for one in (2, 4, 1) if features % one == 0))
    is_first = pick(True, False)
    if not is_first:
        batch, length = length, batch
    mask, padding = _masks(w, pick, length), "None"
    if pick(False, True):
        padding = f"torch.arange({length}) > {w.input('ids', batch, 1, bound=length)}"
    kind = pick("attention", "attention", "encoder", "decoder", "encoders")
    if kind == "attention":
        more = pick("", ", bias=False", ", add_bias_kv=True", ", add_zero_attn=True")
        name = w.layer(f"nn.MultiheadAttention({features}, {heads}, batch_first={is_first}{more})", "attention")
        given = f"{pick(x, f'{x}.flip(-1)')}, {x}, {x}, key_padding_mask={padding}, attn_mask={mask}"
        if pick(True, False):
            w.pair(f"{name}({given}, average_attn_weights={pick(True, False)})")
        else:
            w.value(f"{name}({given}, need_weights=False)[0]")
        return
    more = f"batch_first={is_first}, norm_first={pick(False, True)}, bias={pick(True, False)}"
    more += f", activation={pick('F.relu', 'F.gelu', 'F.silu')}"
    if kind == "decoder":
        name = w.layer(f"nn.TransformerDecoderLayer({features}, {heads}, 12, {more})", "decoder")
        w.value(f"{name}({x}, {x} * 0.5, tgt_mask={mask}, tgt_key_padding_mask={padding})")
        return
    made = f"nn.TransformerEncoderLayer({features}, {heads}, 12, {more})"
    if kind == "encoders":
        name = w.layer(f"nn.TransformerEncoder({made}, 2, norm={pick('None', f'nn.LayerNorm({features})')})", "encoder")
        w.value(f"{name}({x}, mask={mask}, src_key_padding_mask={padding})")
    else:
        name = w.layer(made, "encoder")
        w.value(f"{name}({x}, src_mask={mask}, src_key_padding_mask={padding})")
