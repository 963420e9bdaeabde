"""Steps on images of 1 to 3 dimensions, with a batch or without: convolutions, padding, pooling, sizes."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer

_CHANNELS = (8, 1, 3, 16, 32, 48, 5)


def _dimensions(w: Writer, pick: Pick) -> int:
    """Picks the number of spatial dimensions of the latest value.

    Raises:
        ValueError: the latest value is no image.
    """
    options = [count for count in (w.x.dim() - 2, w.x.dim() - 1) if 1 <= count <= 3]
    if not options:
        raise ValueError("no image")
    return pick(*options)


def _per_dimension(pick: Pick, count: int, *options: int) -> int | tuple[int, ...]:
    """Picks one number for all dimensions, or one number for each."""
    first = pick(*options)
    return first if pick(True, True, False) else (first, *(pick(*options) for _ in range(count - 1)))


def _groups(pick: Pick, inputs: int, outputs: int) -> int:
    return pick(1, 1, *(one for one in range(2, inputs + 1) if inputs % one == outputs % one == 0))


def convolution(w: Writer, pick: Pick) -> None:
    count = _dimensions(w, pick)
    channels = w.x.shape[-count - 1]
    size = _per_dimension(pick, count, 3, 1, 2, 5, 4)
    outputs = pick(channels, *_CHANNELS)
    padding = pick(0, 1, 2, "same", "valid", tuple(pick(0, 1, 2) for _ in range(count)))
    stride = 1 if padding == "same" else _per_dimension(pick, count, 1, 1, 2, 3)
    dilation = _per_dimension(pick, count, 1, 1, 1, 2)
    mode = pick("zeros", "zeros", "zeros", "zeros", "reflect", "replicate", "circular")
    layer = w.layer(
        f"nn.Conv{count}d({channels}, {outputs}, {size}, stride={stride}, padding={padding!r}, dilation={dilation},"
        f" groups={_groups(pick, channels, outputs)}, bias={pick(True, False)}, padding_mode={mode!r})"
    )
    w.value(f"{layer}({w.latest})")
    w.layers.append(layer)


def written_convolution(w: Writer, pick: Pick) -> None:
    """Adds a convolution by the function. The weight may be computed, and the bias may be any tensor."""
    count = _dimensions(w, pick)
    channels = w.x.shape[-count - 1]
    outputs = pick(*_CHANNELS)
    weight = w.layer(f"nn.Parameter(torch.randn({(outputs, channels, *[pick(3, 1, 2)] * count)}) / 8)", "weight")
    weight = pick(
        weight, f"{weight} * 0.5", f"{weight} / {weight}.flatten(1).norm(dim=1).reshape{(-1, *[1] * (count + 1))}"
    )
    bias = pick("None", f"torch.ones({outputs}, dtype={w.dtype})", "given")
    if bias == "given":
        bias = w.layer(f"nn.Parameter(torch.randn({outputs}))", "bias")
    w.value(f"F.conv{count}d({w.latest}, {weight}, {bias}, padding={pick(0, 1, repr('same'))})")


def transposed_convolution(w: Writer, pick: Pick) -> None:
    count = _dimensions(w, pick)
    channels = w.x.shape[-count - 1]
    outputs = pick(channels, *_CHANNELS)
    stride = _per_dimension(pick, count, 1, 2)
    layer = w.layer(
        f"nn.ConvTranspose{count}d({channels}, {outputs}, {_per_dimension(pick, count, 3, 2, 1)}, stride={stride},"
        f" padding={_per_dimension(pick, count, 0, 1)}, output_padding={0 if stride == 1 else pick(0, 1)},"
        f" groups={_groups(pick, channels, outputs)}, bias={pick(True, False)}, dilation={pick(1, 1, 2)})"
    )
    w.value(f"{layer}({w.latest})")
    w.layers.append(layer)


def pad(w: Writer, pick: Pick) -> None:
    """Pads the ends of some dimensions. A negative width cuts off elements."""
    count = pick(*range(1, w.x.dim() + 1)) if w.x.dim() < 3 else pick(w.x.dim() - 2, 1, 2, w.x.dim())
    widths = [pick(0, 1, 2, 1, -1) for _ in range(2 * count)]
    mode = pick("constant", "constant", "constant", "reflect", "replicate", "circular")
    value = f", value={pick(0.0, 0.0, 1.5, -1.0)}" if mode == "constant" else ""
    w.value(f"F.pad({w.latest}, {widths}, mode={mode!r}{value})")


def pad_and_convolve(w: Writer, pick: Pick) -> None:
    """Adds padding and a convolution, which the passes for padding look for."""
    count = _dimensions(w, pick)
    channels = w.x.shape[-count - 1]
    widths = [pick(0, 1, 2) for _ in range(2 * count)]
    outputs = pick(*_CHANNELS)
    layer = w.layer(
        f"nn.Conv{count}d({channels}, {outputs}, 3, padding={pick(0, 1, repr('valid'))}, stride={pick(1, 2)},"
        f" groups={_groups(pick, channels, outputs)})"
    )
    w.value(f"F.pad({w.latest}, {widths}, value={pick(0.0, 0.0, 0.5)})")
    w.value(f"{layer}({w.latest})")


def pool(w: Writer, pick: Pick) -> None:
    count = _dimensions(w, pick)
    size = _per_dimension(pick, count, 2, 3)
    stride = pick("None", "1", "2")
    padding, ceil = pick(0, 1), pick(False, True)
    if pick(True, False):
        call = f"max_pool{count}d({{}}, {size}, {stride}, {padding}, {pick(1, 1, 2)}, ceil_mode={ceil})"
    else:
        call = f"avg_pool{count}d({{}}, {size}, {stride}, {padding}, {ceil}, {pick(True, False)})"
    w.value("F." + call.format(w.latest))


def adaptive_pool(w: Writer, pick: Pick) -> None:
    count = _dimensions(w, pick)
    w.value(f"F.adaptive_{pick('avg', 'max')}_pool{count}d({w.latest}, {pick(1, 2, 3)})")


def upsample(w: Writer, pick: Pick) -> None:
    count = _dimensions(w, pick)
    smooth = ("linear", "bilinear", "trilinear")[count - 1]
    mode = pick("nearest", smooth, "nearest-exact", "bicubic" if count == 2 else "nearest")
    size = pick("scale_factor=2", "scale_factor=1.5", f"size={pick(5, 8, 1)}")
    corners = "" if mode.startswith("nearest") else f", align_corners={pick(False, True)}"
    w.value(f"F.interpolate({w.latest}, {size}, mode={mode!r}{corners})")


def shuffle(w: Writer, pick: Pick) -> None:
    function = pick("pixel_shuffle", "pixel_unshuffle")
    # Of an empty tensor, PyTorch gives the shape of the input, and the shape of the result in exported programs.
    if function == "pixel_unshuffle" and not w.x.numel():
        raise ValueError("nothing to unshuffle")
    w.value(f"F.{function}({w.latest}, {pick(2, 1)})")


def factorized(w: Writer, pick: Pick) -> None:
    """Adds convolutions of volumes in one, two or three of their dimensions, one behind the other, often residual."""
    if w.x.dim() != 5:
        w.images()
        w.value(f"torch.stack([{', '.join([w.latest] * pick(2, 1, 3))}], 2)")
    x, c = w.latest, w.x.shape[1]
    wide, norm = pick(16, c, 48, 5), pick(True, False)
    act = pick("nn.ReLU()", "nn.SiLU()", "nn.Identity()")
    parts, inputs = [], c
    for outputs in (wide, c):
        size, padding = pick(((1, 3, 3), (0, 1, 1)), ((3, 1, 1), (1, 0, 0)), ((3, 3, 3), (1, 1, 1)), ((1, 1, 1), 0))
        groups = _groups(pick, inputs, outputs)
        parts.append(f"nn.Conv3d({inputs}, {outputs}, {size}, padding={padding}, groups={groups}, bias={not norm})")
        parts += [f"nn.BatchNorm3d({outputs})"] * norm + [act]
        inputs = outputs
    layer = w.layer(f"nn.Sequential({', '.join(parts)})", "norm")
    y = w.value(f"{layer}({x})")
    stride = pick(1, 2, (1, 2, 2), (2, 1, 1))
    w.value(pick(f"{x} + {y}", f"F.max_pool3d({y}, {stride})", f"torch.cat([{x}, {y}], {pick(1, 2)})"))
    if pick(True, False):
        layer = w.layer(f"nn.Conv3d({w.x.shape[1]}, {pick(c, 1, 8)}, 1, {stride})")
        w.value(f"{layer}({w.latest})")
