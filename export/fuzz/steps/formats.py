"""Steps on memory formats: channels-last images, views of such images, images of one channel or one pixel."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer


def _divisor(pick: Pick, number: int, *options: int) -> int:
    """Picks one of the options that divide a number, or 1."""
    return pick(*(one for one in options if number % one == 0 and number), 1)


def memory_format(w: Writer, pick: Pick) -> None:
    x, rank = w.latest, w.x.dim()
    if rank == 3:
        x = w.value(f"{x}[None]")
    given = pick("channels_last", "channels_last", "contiguous_format") if rank in (3, 4) else "contiguous_format"
    w.value(
        pick(
            f"{x}.to(memory_format=torch.{given})",
            f"{x}.contiguous(memory_format=torch.{given})",
            f"{x}.clone(memory_format=torch.{given})",
            f"{x}.contiguous()",
            f"{x}.to({x}.dtype, memory_format=torch.{given}, copy=True)",
            f"torch.zeros_like({x}, memory_format=torch.{given}) + {x}",
        )
    )


def split_channels(w: Writer, pick: Pick) -> None:
    """Adds a view that splits or merges the channels of images."""
    n, c, height, width = w.images()
    x = w.latest
    groups = _divisor(pick, c, 2, 4, 3, c)
    view = pick("reshape", "view")
    split = f"{x}.{view}({n}, {groups}, {c // groups}, {height}, {width})"
    quarters = f"{x}.{view}({n}, {c // 4}, 2, 2, {height}, {width}).permute(0, 1, 4, 2, 5, 3)"
    of_pixels = f"{x}.{view}({n}, {c}, {height // 2}, 2, {width // 2}, 2).permute(0, 3, 5, 1, 2, 4)"
    options = [
        f"F.channel_shuffle({x}, {groups})",
        f"{split}.permute(0, 2, 1, 3, 4).reshape({n}, {c}, {height}, {width})",
        f"{split}.transpose(1, 2).contiguous().{view}({n}, -1, {height}, {width})",
        f"{split}.sum(1)",
        f"({split} * 2).flatten(1, 2)",
        f"{x}.unflatten(1, ({groups}, -1))[:, 0]",
        f"{x}.{view}({n}, {groups}, -1).softmax(-1).{view}({n}, {c}, {height}, {width})",
        f"torch.cat([one * 2 for one in {x}.chunk({groups}, 1)][::-1], 1)",
        f"{x}.{view}({n * groups}, {c // groups}, {height}, {width})",
    ]
    if c % 4 == 0:
        options += [
            f"F.pixel_shuffle({x}, 2)",
            f"{quarters}.reshape({n}, {c // 4}, {2 * height}, {2 * width})",
            f"nn.PixelShuffle(2)(torch.relu({x}))",
        ]
    if height % 2 == width % 2 == 0 and height and width:
        options += [
            f"F.pixel_unshuffle({x}, 2)",
            f"{of_pixels}.reshape({n}, {4 * c}, {height // 2}, {width // 2})",
            f"torch.cat([{x}[..., ::2, ::2], {x}[..., 1::2, ::2], {x}[..., ::2, 1::2], {x}[..., 1::2, 1::2]], 1)",
        ]
    w.value(pick(*options))


def patchify(w: Writer, pick: Pick) -> None:
    """Adds a view of images as patches or windows, and sometimes a linear layer on these."""
    n, c, height, width = w.images()
    x = w.latest
    p, q = _divisor(pick, height, 2, 4, 3), _divisor(pick, width, 2, 4, 3)
    rows, columns = height // p, width // q
    split = f"{x}.reshape({n}, {c}, {rows}, {p}, {columns}, {q})"
    of_windows = f"{x}.permute(0, 2, 3, 1).reshape({n}, {rows}, {p}, {columns}, {q}, {c})"
    w.value(
        pick(
            f"{split}.permute(0, 2, 4, 3, 5, 1).reshape({n}, {rows * columns}, -1)",
            f"{x}.unfold(2, {p}, {p}).unfold(3, {q}, {q}).permute(0, 2, 3, 1, 4, 5).reshape({n}, -1, {c * p * q})",
            f"torch.einsum('nchpwq->nhwpqc', {split}).flatten(3).flatten(1, 2)",
            f"F.unfold({x}, ({p}, {q}), stride=({p}, {q})).transpose(1, 2)",
            f"{of_windows}.permute(0, 1, 3, 2, 4, 5).reshape(-1, {p * q}, {c})",
            f"{x}.permute(0, 2, 3, 1).roll((1, -1), (1, 2)).flatten(1, 2)",
        )
    )
    if pick(True, False):
        layer = w.layer(f"nn.Linear({w.x.shape[-1]}, {pick(16, 8)})")
        w.value(f"{layer}({w.latest})")


def tokens(w: Writer, pick: Pick) -> None:
    """Makes tokens of images, adds layers on tokens, and sometimes makes images of tokens again."""
    n, c, height, width = w.images()
    x = w.latest
    w.value(
        pick(
            f"{x}.flatten(2).transpose(1, 2)",
            f"{x}.reshape({n}, {c}, -1).permute(0, 2, 1)",
            f"{x}.permute(0, 2, 3, 1).flatten(1, 2)",
            f"{x}.view({n}, {c}, {height * width}).mT",
            f"{x}.flatten(2).permute(2, 0, 1)",
        )
    )
    channels = w.x.shape[-1]
    for _ in range(pick(1, 0, 2)):
        kind = pick(f"Linear({channels}, {channels})", f"LayerNorm({channels})", f"RMSNorm({channels})")
        w.value(f"{w.layer(f'nn.{kind}')}({w.latest})")
    if w.x.shape[0] == n and pick(True, False):
        y = w.latest
        w.value(
            pick(
                f"{y}.transpose(1, 2).reshape({n}, {channels}, {height}, {width})",
                f"{y}.mT.unflatten(2, ({height}, {width}))",
                f"{y}.reshape({n}, {height}, {width}, {channels}).permute(0, 3, 1, 2)",
            )
        )


def behind_permute(w: Writer, pick: Pick) -> None:
    """Adds layers on images whose channels are last, and a convolution after these."""
    _, c, _, _ = w.images()
    residual = w.latest
    w.value(f"{residual}.permute(0, 2, 3, 1){pick('', '.contiguous()')}")
    channels = c
    for _ in range(pick(1, 2, 3)):
        kind = pick("LayerNorm", "Linear", "RMSNorm", "gelu", "relu", "wide")
        y = w.latest
        if kind in ("gelu", "relu"):
            w.value(f"F.{kind}({y})")
            continue
        outputs = pick(channels, 2 * channels, 16, 1) if kind == "wide" else channels
        kind = f"Linear({channels}, {outputs})" if kind in ("wide", "Linear") else f"{kind}({channels}, eps=1e-6)"
        w.value(f"{w.layer(f'nn.{kind}')}({y})")
        channels = outputs
    y = w.value(f"{w.latest}.permute(0, 3, 1, 2){pick('', '', '.contiguous()')}")
    kind = pick(
        f"nn.Conv2d({channels}, {pick(channels, 8, 1)}, 3, padding=1, bias={pick(True, False)})",
        "none",
        f"nn.Conv2d({channels}, {pick(8, 16)}, 1)",
        f"nn.Conv2d({channels}, {channels}, 3, padding=1, groups={channels})",
        f"nn.ConvTranspose2d({channels}, 4, 2, stride=2)",
        "residual",
    )
    if kind == "residual":
        w.value(f"{y} + {residual}")
    elif kind != "none":
        w.value(f"{w.layer(kind)}({y})")


def norm_of_pixels(w: Writer, pick: Pick) -> None:
    """Adds a norm over the channels of images as models write it, or an RMS norm of channels-last images."""
    _, c, _, width = w.images()
    x = w.latest
    if pick(True, False):
        mean = w.value(f"{x}.mean(1, keepdim=True)")
        variance = w.value(f"({x} - {mean}).pow(2).mean(1, keepdim=True)")
        y = w.value(f"({x} - {mean}) / torch.sqrt({variance} + 1e-3)")
        weight, bias = (w.layer(f"nn.Parameter(torch.randn({c}))", name) for name in ("weight", "bias"))
        w.value(f"{weight}[:, None, None] * {y} + {bias}[:, None, None]")
        return
    y = w.value(f"{x}.to(memory_format=torch.channels_last)") if pick(True, False) else x
    kind = pick(f"RMSNorm({width})", f"LayerNorm({width})", f"GroupNorm(1, {c})", f"Linear({width}, 8)")
    w.value(f"{w.layer(f'nn.{kind}', 'norm')}({y})")


def one_channel(w: Writer, pick: Pick) -> None:
    """Adds a convolution to one channel, and a view or a layer after it."""
    if w.x.dim() not in (3, 4) or not w.x.numel():
        w.images()
    count = w.x.dim() - 2
    channels, x = w.x.shape[1], w.latest
    size = pick(3, 1)
    kind = f"nn.Conv{count}d({channels}, 1, {size}, padding={size // 2}, bias={pick(True, False)})"
    w.value(f"{w.layer(kind)}({x})")
    if pick(False, True):
        w.value(pick("torch.relu({})", "torch.sigmoid({})", "F.gelu({})").format(w.latest))
    y = w.latest
    pixels = w.x[0, 0].numel()
    kind = pick(
        f"nn.Conv{count}d(1, 2, 3, padding=1)",
        f"nn.ConvTranspose{count}d(1, 3, 2, stride=2)",
        f"nn.Sequential(nn.Flatten({pick(1, 2)}), nn.Linear({pixels}, 4))",
        f"nn.Linear({w.x.shape[-1]}, 5)",
        f"nn.{pick('LayerNorm', 'RMSNorm')}({w.x.shape[-1]})",
        f"nn.{pick('AvgPool', 'MaxPool')}{count}d(2)",
        "view",
    )
    if kind != "view":
        y = w.value(f"{w.layer(kind)}({y})")
    smooth = "linear" if count == 1 else "bilinear"
    w.value(
        pick(
            f"{y}.flatten({pick(1, 2, 0)})",
            f"{y}.squeeze(1)",
            f"{y} * 2",
            f"{y}.unsqueeze({pick(1, 0, 2)})",
            f"{y} @ {y}.mT",
            f"F.interpolate({y}, scale_factor=2, mode={pick('nearest', smooth)!r})",
            f"{y}.transpose(1, -1)",
            f"{y}.expand(-1, {w.x.shape[1] if w.x.shape[1] > 1 else 3}, *{tuple(w.x.shape[2:])}).reshape(-1)",
            f"{x} * torch.sigmoid({y})",
            f"{y}.view({w.x.shape[0]}, -1)",
            f"F.pixel_unshuffle({y}, {_divisor(pick, w.x.shape[-1], 2)})",
            f"torch.cat([{y}, {y}], {pick(1, 0, -1)})",
        )
    )


def one_pixel(w: Writer, pick: Pick) -> None:
    """Makes one pixel of images, and adds a view or a layer after it."""
    _, c, height, width = w.images()
    x = w.latest
    y = w.value(
        pick(
            f"F.adaptive_avg_pool2d({x}, 1)",
            f"{x}.mean((2, 3), keepdim=True)",
            f"{x}[:, :, :1, :1]",
            f"F.adaptive_max_pool2d({x}, 1)",
            f"{x}.amax((-1, -2), keepdim=True)",
        )
    )
    if pick(True, False):
        y = w.value(f"{w.layer(f'nn.Conv2d({c}, {pick(8, 1, c)}, 1)')}({y})")
        c = w.x.shape[1]
    smooth = pick("bilinear", "nearest")
    kind = pick(
        "view",
        f"nn.Sequential(nn.Flatten(), nn.Linear({c}, 4))",
        f"nn.ConvTranspose2d({c}, 4, {pick(4, 2)})",
        f"nn.Conv2d({c}, 2, 3, padding=1)",
        f"nn.GroupNorm(1, {c})",
    )
    if kind != "view":
        w.value(f"{w.layer(kind)}({y})")
        return
    w.value(
        pick(
            f"{y}.flatten(1)",
            f"{y}.squeeze()",
            f"{y}[..., 0, 0]",
            f"{y}.squeeze(-1).squeeze(-1)",
            f"F.interpolate({y}, size=({height}, {width}), mode={smooth!r})",
            f"{y}.permute(0, 2, 3, 1)",
            f"{y}.view({y}.shape[0], -1) @ {y}.view({y}.shape[0], -1).t()",
            f"{y}.expand(-1, -1, {height}, {width})",
            f"{y}.squeeze(-1).transpose(-1, -2)",
            f"F.pixel_shuffle({y}, {2 if c % 4 == 0 else 1})",
            f"{y}.reshape(1, -1, 1, 1)",
        )
    )
