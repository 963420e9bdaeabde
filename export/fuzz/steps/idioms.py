"""Steps that published models have: normed and pruned weights, LoRA, blocks of convolutional networks."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer


def _layer(w: Writer, pick: Pick) -> str:
    """Returns the expression of a layer that takes the latest value."""
    if w.x.dim() in (3, 4) and pick(True, False):
        count = w.x.dim() - 2
        channels = w.x.shape[1]
        kind = pick("Conv", "Conv", "ConvTranspose")
        return f"nn.{kind}{count}d({channels}, {pick(8, channels, 1, 16)}, {pick(3, 1)}, padding={pick(1, 0)})"
    return f"nn.Linear({w.x.shape[-1]}, {pick(16, w.x.shape[-1], 1)})"


def normed_weight(w: Writer, pick: Pick) -> None:
    """Adds a layer with a weight norm, which may be removed again."""
    x, layer = w.latest, _layer(w, pick)
    way = pick("new", "old", "new removed", "old removed", "spectral")
    if way.startswith("old"):  # A copy of the module needs a weight without a gradient.
        name = w.layer("None", "normed")
        w.make(f"with torch.no_grad():\n    {name} = nn.utils.weight_norm({layer})")
        if way.endswith("removed"):
            w.make(f"nn.utils.remove_weight_norm({name})")
    else:
        norm = "spectral_norm" if way == "spectral" else "weight_norm"
        name = w.layer(f"nn.utils.parametrizations.{norm}({layer})", "normed")
        if way.endswith("removed"):
            w.make(f"nn.utils.parametrize.remove_parametrizations({name}, 'weight')")
    w.value(f"{name}({x})")
    w.layers.append(name)


def pruned_weight(w: Writer, pick: Pick) -> None:
    """Adds a layer with a pruned weight, which may be made permanent."""
    x = w.latest
    name = w.layer("None", "pruned")
    function = pick(
        "l1_unstructured({}, 'weight', amount=0.5)",
        "random_unstructured({}, 'weight', amount=0.3)",
        "ln_structured({}, 'weight', amount=0.5, n=2, dim=0)",
    ).format(_layer(w, pick))
    w.make(f"with torch.no_grad():\n    {name} = prune.{function}")
    if pick(True, False):
        w.make(f"prune.remove({name}, 'weight')")
    w.value(f"{name}({x})")
    w.layers.append(name)


def low_rank(w: Writer, pick: Pick) -> None:
    """Adds a linear layer with a LoRA adapter: apart, merged in forward() or merged before."""
    x, inputs = w.latest, w.x.shape[-1]
    outputs, rank = pick(16, inputs, 8), pick(2, 1, 4)
    base = w.layer(f"nn.Linear({inputs}, {outputs}, bias={pick(True, False)})")
    down = w.layer(f"nn.Parameter(torch.randn({rank}, {inputs}) / 4)", "weight")
    up = w.layer(f"nn.Parameter(torch.randn({outputs}, {rank}) / 4)", "weight")
    way = pick("apart", "merged", "merged before", "product")
    if way == "apart":
        w.value(f"{base}({x}) + F.linear(F.linear({x}, {down}), {up}) * 2.0")
    elif way == "merged":
        w.value(f"F.linear({x}, {base}.weight + {up} @ {down} * 0.5, {base}.bias)")
    elif way == "product":
        w.value(f"{base}({x}) + ({x} @ {down}.t() @ {up}.t()) * 0.5")
    else:
        w.make(f"{base}.weight.data += {up}.data @ {down}.data")
        w.value(f"{base}({x})")


def squeeze_and_excitation(w: Writer, pick: Pick) -> None:
    _, c, _, _ = w.images()
    x = w.latest
    inner = pick(4, 1, 8)
    gate = pick("sigmoid", "hardsigmoid")
    if pick(True, False):
        layers = (w.layer(f"nn.Conv2d({c}, {inner}, 1)"), w.layer(f"nn.Conv2d({inner}, {c}, 1)"))
        pooled = pick(f"F.adaptive_avg_pool2d({x}, 1)", f"{x}.mean((2, 3), keepdim=True)")
        y = w.value(f"{layers[1]}(torch.relu({layers[0]}({pooled})))")
    else:
        layers = (w.layer(f"nn.Linear({c}, {inner})"), w.layer(f"nn.Linear({inner}, {c})"))
        pooled = pick(f"F.adaptive_avg_pool2d({x}, 1).flatten(1)", f"{x}.mean((2, 3))")
        end = pick("[:, :, None, None]", f".view({w.x.shape[0]}, {c}, 1, 1)")
        y = w.value(f"{layers[1]}(torch.relu({layers[0]}({pooled}))){end}")
    w.value(pick(f"{x} * F.{gate}({y})", f"{x} * F.{gate}({y}).expand_as({x})", f"F.{gate}({y}) * {x} + {x}"))


def pyramid(w: Writer, pick: Pick) -> None:
    """Adds parallel convolutions and pooling of the whole image, joined as in ASPP, and a convolution after these."""
    _, c, height, width = w.images()
    x = w.latest
    outputs = pick(8, 1, 4)
    parts = [w.value(f"{w.layer(f'nn.Conv2d({c}, {outputs}, 1)')}({x})")]
    for rate in (1, 2)[: pick(1, 2)]:
        layer = w.layer(f"nn.Conv2d({c}, {outputs}, 3, padding={rate}, dilation={rate})")
        parts.append(w.value(f"torch.relu({layer}({x}))"))
    pooled = w.value(f"{w.layer(f'nn.Conv2d({c}, {outputs}, 1)')}(F.adaptive_avg_pool2d({x}, 1))")
    more = pick("mode='bilinear', align_corners=False", "mode='nearest'")
    parts.append(w.value(f"F.interpolate({pooled}, size=({height}, {width}), {more})"))
    joined = w.value(f"torch.cat([{', '.join(parts)}], 1)")
    w.value(f"{w.layer(f'nn.Conv2d({len(parts) * outputs}, {pick(8, 1)}, 1)')}({joined})")


def judge_of_images(w: Writer, pick: Pick) -> None:
    """Adds the head of a GAN's discriminator: a convolution to one channel, a view and a linear layer."""
    _, c, _, _ = w.images()
    size, stride = pick((3, 2), (4, 2), (3, 1))
    layer = w.layer(f"nn.Conv2d({c}, 8, {size}, {stride}, 1)")
    w.value(f"F.leaky_relu({layer}({w.latest}), 0.2)")
    end = pick((3, 1), (1, 0), (min(w.x.shape[2:]), 0))
    y = w.value(f"{w.layer(f'nn.Conv2d(8, 1, {end[0]}, 1, {end[1]}, bias={pick(False, True)})')}({w.latest})")
    y = w.value(y + pick(".flatten(1)", ".view(-1)", ".flatten(2)", ".squeeze()", ".squeeze(1)", ".mean((2, 3))"))
    if w.x.dim() and pick(True, False):
        w.value(f"{w.layer(f'nn.Linear({w.x.shape[-1]}, {pick(4, 1)})')}({y})")
    w.value(pick(f"torch.sigmoid({w.latest})", f"{w.latest} * 2"))


def separable(w: Writer, pick: Pick) -> None:
    """Adds a depthwise and a pointwise convolution, sometimes inverted and residual."""
    _, c, _, _ = w.images()
    x = w.latest
    norm, act = pick(True, False), pick("nn.ReLU6()", "nn.SiLU()", "nn.Hardswish()", "nn.Identity()")
    wide = c * pick(1, 2)
    parts = [f"nn.Conv2d({c}, {wide}, 1), {act}"] if wide != c else []
    parts.append(f"nn.Conv2d({wide}, {wide}, {pick(3, 5)}, padding='same', groups={wide}, bias={not norm})")
    parts += [f"nn.BatchNorm2d({wide})"] * norm + [act, f"nn.Conv2d({wide}, {c}, 1, bias={not norm})"]
    parts += [f"nn.BatchNorm2d({c})"] * norm
    layer = w.layer(f"nn.Sequential({', '.join(parts)})", "norm")
    y = w.value(f"{layer}({x})")
    w.value(pick(f"{x} + {y}", f"{y} * 1", f"torch.cat([{x}, {y}], 1)"))


def skip(w: Writer, pick: Pick) -> None:
    """Adds one level of a U-net: a smaller image, layers, a larger image, and the input joined to it."""
    _, c, height, width = w.images()
    x = w.latest
    inner = pick(2 * c, 8, 1)
    stride, given = pick((1, f"F.max_pool2d({x}, 2)"), (2, x))
    y = w.value(f"torch.relu({w.layer(f'nn.Conv2d({c}, {inner}, 3, {stride}, padding=1)')}({given}))")
    larger = pick("nearest", "bilinear", "transposed", "shuffled")
    if larger == "transposed":
        y = w.value(f"{w.layer(f'nn.ConvTranspose2d({inner}, {c}, 2, stride=2)')}({y})")
    elif larger == "shuffled":
        y = w.value(f"F.pixel_shuffle({w.layer(f'nn.Conv2d({inner}, {4 * c}, 1)')}({y}), 2)")
    else:
        y = w.value(f"F.interpolate({y}, scale_factor=2, mode={larger!r})")
    below, right = height - w.x.shape[2], width - w.x.shape[3]
    if below or right:
        y = w.value(f"F.pad({y}, [0, {right}, 0, {below}])")
    joined = w.value(pick(f"torch.cat([{x}, {y}], 1)", f"torch.cat([{y}, {x}], 1)"))
    w.value(f"{w.layer(f'nn.Conv2d({w.x.shape[1]}, {pick(c, 1, 8)}, 3, padding=1)')}({joined})")


def positions(w: Writer, pick: Pick) -> None:
    """Adds an encoding of positions to flattened images or to tokens."""
    if w.x.dim() == 4:
        x = w.latest
        w.value(pick(f"{x}.flatten(2).transpose(1, 2)", f"{x}.flatten(2).permute(2, 0, 1)"))
    x = w.use(3)
    _, count, features = w.x.shape
    way = pick("parameter", "buffer", "sines", "rotary", "rows")
    if way == "parameter":
        given = w.layer(f"nn.Parameter(torch.randn(1, {count}, {features}))", "position")
    elif way == "buffer":
        given = f"{w.buffer(f'torch.randn(1, {count + 3}, {features})', 'position')}[:, :{count}]"
    elif way == "rows":
        layer = w.layer(f"nn.Embedding({count + 2}, {features})", "position")
        given = f"{layer}(torch.arange({count}))"
    else:
        steps = w.buffer(f"torch.outer(torch.arange({count}), torch.rand({(features + 1) // 2}))", "angles")
        if way == "rotary" and features % 2 == 0:
            angles = w.value(f"torch.cat([{steps}, {steps}], -1)")
            halves = f"torch.cat([-{x}[..., {features // 2}:], {x}[..., : {features // 2}]], -1)"
            w.value(f"{x} * {angles}.cos() + {halves} * {angles}.sin()")
            return
        given = f"torch.stack([{steps}.sin(), {steps}.cos()], -1).flatten(1)[:, :{features}]"
    w.value(pick(f"{x} + {given}", f"{given} + {x}"))


def patch_embedding(w: Writer, pick: Pick) -> None:
    """Adds patches of images by a convolution, with a token of the class and positions."""
    n, c, height, width = w.images()
    p = min(pick(2, 4, 3), height, width)
    features = pick(16, 8)
    y = w.value(f"{w.layer(f'nn.Conv2d({c}, {features}, {p}, stride={p})')}({w.latest})")
    y = w.value(y + pick(".flatten(2).transpose(1, 2)", ".flatten(2).mT", ".permute(0, 2, 3, 1).flatten(1, 2)"))
    if pick(True, False):
        token = w.layer(f"nn.Parameter(torch.randn(1, 1, {features}))", "token")
        y = w.value(f"torch.cat([{token}.expand({n}, -1, -1), {y}], 1)")
    if pick(True, False):
        given = w.layer(f"nn.Parameter(torch.randn(1, {w.x.shape[1]}, {features}))", "position")
        y = w.value(f"{y} + {given}")
    if pick(False, True):
        w.value(f"{w.layer(f'nn.LayerNorm({features})', 'norm')}({y})")


def padded_to_multiple(w: Writer, pick: Pick) -> None:
    """Pads the last dimension to a multiple, by the remainder of a negative size."""
    if not w.x.dim():
        raise ValueError("nothing to pad")
    missing = f"-{w.latest}.shape[-1] % {pick(4, 3, 8)}"
    w.value(f"F.pad({w.latest}, {pick(f'(0, {missing})', f'({missing}, 0)')})")
