"""Steps on the last dimension, or on single elements: linear layers, norms, activations, reductions."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer

_FEATURES = (16, 48, 64, 8, 1, 96, 33)
_NAMED = (
    *("torch.relu({})", "F.gelu({})", "F.silu({})", "torch.sigmoid({})", "torch.tanh({})", "F.relu6({})"),
    *("F.hardswish({})", "F.hardtanh({}, -0.5, 1.5)", "{}.clamp(-1, 2)", "F.gelu({}, approximate='tanh')"),
    *("{}.clamp(min=0)", "{}.clamp(max=1)", "F.leaky_relu({}, 0.1)", "F.elu({})", "F.mish({})", "F.softplus({})"),
    *("F.hardsigmoid({})", "F.threshold({}, 0.0, 0.0)", "F.log_softmax({}, -1)", "torch.softmax({}, -1)", "F.selu({})"),
    *("torch.relu_({}.clone())", "torch.clamp({}, torch.tensor(-1.0), torch.tensor(1.0))", "F.softsign({})"),
    *("F.celu({}, 1.5)", "F.softplus({}, 2, 5)", "F.tanhshrink({})", "F.elu({}, 0.5)", "F.leaky_relu({}, -0.5)"),
    *("F.hardshrink({}, 0.3)", "F.softshrink({}, 0.2)"),
    *("F.glu({}, -1)", "F.celu({})", "F.logsigmoid({})", "torch.erf({})", "torch.square({})", "{}.abs()", "-{}"),
)
_WRITTEN = (
    "{0} * torch.sigmoid({0})",
    "0.5 * {0} * (1 + torch.tanh(0.7978845608028654 * ({0} + 0.044715 * {0}**3)))",
    "0.5 * {0} * (1.0 + torch.erf({0} / math.sqrt(2.0)))",
    "{0} * F.relu6({0} + 3) / 6",
    "F.relu6({0} + 3) / 6",
    "{0} * ({0} + 3).clamp(0, 6) * (1 / 6)",
    "{0} * F.hardsigmoid({0})",
    "{0} * torch.sigmoid(1.702 * {0})",
    "torch.maximum({0}, torch.zeros_like({0}))",
    "torch.where({0} > 0, {0}, 0.01 * {0})",
    "F.prelu({0}, torch.full((1,), 0.2, dtype={0}.dtype))",
    "{0} * torch.tanh(F.softplus({0}))",
    "torch.exp({0}.clamp(max=2))",
    "{0} * 0.5 + 0.25",
    "({0} - 0.5) / 2",
    "1 - {0}",
    "{0} / (1 + torch.exp(-{0}))",
    "torch.minimum(torch.relu({0}), torch.full((1,), 6.0, dtype={0}.dtype))",
)


def activation(w: Writer, pick: Pick) -> None:
    w.value(pick(*_NAMED).format(w.latest))


def written_activation(w: Writer, pick: Pick) -> None:
    w.value(pick(*_WRITTEN).format(w.latest))


def linear(w: Writer, pick: Pick) -> None:
    inputs = w.x.shape[-1]
    layer = w.layer(f"nn.Linear({inputs}, {pick(inputs, *_FEATURES)}, bias={pick(True, False)})")
    w.value(f"{layer}({w.latest})")
    w.layers.append(layer)


def linear_and_activation(w: Writer, pick: Pick) -> None:
    linear(w, pick)
    pick(activation, written_activation)(w, pick)


def product(w: Writer, pick: Pick) -> None:
    """Adds a linear layer written with other functions than F.linear."""
    inputs, x = w.x.shape[-1], w.latest
    outputs = pick(*_FEATURES)
    weight = w.layer(f"nn.Parameter(torch.randn(({inputs}, {outputs})) / 8)", "weight")
    bias = w.layer(f"nn.Parameter(torch.randn({outputs}))", "bias")
    w.value(
        pick(
            f"{x} @ {weight}",
            f"torch.matmul({x}, {weight}) + {bias}",
            f"F.linear({x}, {weight}.t(), {bias})",
            f"torch.addmm({bias}, {x}.reshape(-1, {inputs}), {weight})",
            f"torch.einsum('...i,ij->...j', {x}, {weight})",
            f"F.linear({x}, {weight}.t() * 2)",
            f"F.linear({x}, {weight}[:, 0])",
            f"torch.mm({x}.flatten(0, -2), {weight})",
            f"torch.addmm({bias}, {x}.reshape(-1, {inputs}), {weight}, beta={pick(1, 2)}, alpha={pick(0.5, 1)})",
        )
    )


def layer_norm(w: Writer, pick: Pick) -> None:
    sizes = list(w.x.shape[-pick(1, 1, min(2, w.x.dim())) :])
    more = pick("", ", elementwise_affine=False", ", eps=1e-3")
    layer = w.layer(f"nn.{pick('LayerNorm', 'RMSNorm')}({sizes}{more})", "norm")
    w.value(f"{layer}({w.latest})")
    w.layers.append(layer)


def written_norm(w: Writer, pick: Pick) -> None:
    """Adds an RMS norm as models write it, with the weight and the casts in several places."""
    x = w.latest
    weight = w.layer(f"nn.Parameter(torch.rand({w.x.shape[-1]}) + 0.5)", "scale")
    wide = pick(x, f"{x}.float()", f"{x}.to(torch.float32)")
    mean = pick(f"{wide}.pow(2).mean(-1, keepdim=True)", f"({wide} * {wide}).mean(-1, keepdim=True)")
    name = w.value(pick(f"{wide} * torch.rsqrt({mean} + 1e-5)", f"{wide} / torch.sqrt({mean} + 1e-6)"))
    w.value(
        pick(
            f"{weight} * {name}.to({x}.dtype)",
            f"({name} * {weight}).to({x}.dtype)",
            f"{name}.type_as({x}) * (1 + {weight})",
            f"{name}.to({x}.dtype)",
            f"({x} - {x}.mean(-1, keepdim=True)) * torch.rsqrt({x}.var(-1, keepdim=True, unbiased=False) + 1e-5)",
            f"F.normalize({x}, dim=-1, eps=1e-3)",
            f"F.rms_norm({x}, ({w.x.shape[-1]},), {weight}, 1e-5)",
        )
    )


def norm_of_channels(w: Writer, pick: Pick) -> None:
    """Adds a batch, instance or group norm. Channels are dimension 1."""
    rank, channels = w.x.dim(), w.x.shape[1] if w.x.dim() > 1 else 1
    affine = pick(True, False)
    kind = pick("batch", "batch", "instance", "group")
    count = max(1, rank - 2)
    if kind == "group":
        groups = pick(*(one for one in range(1, channels + 1) if channels % one == 0))
        expression = f"nn.GroupNorm({groups}, {channels}, affine={affine})"
    elif kind == "batch":
        expression = f"nn.BatchNorm{count}d({channels}, affine={affine}, eps={pick(1e-5, 1e-2)})"
    else:
        expression = f"nn.InstanceNorm{count}d({channels}, affine={affine}, track_running_stats={pick(False, True)})"
    layer = w.layer(expression, "norm")
    w.value(f"{layer}({w.latest})")
    w.layers.append(layer)


def reduction(w: Writer, pick: Pick) -> None:
    dims = pick("-1", "1", "(-1, -2)", "0", "()") if w.x.dim() > 1 else "0"
    name = pick("mean", "sum", "amax", "amin", "var", "std", "logsumexp", "norm")
    keep = pick(True, False)
    given = f"p=2, dim={dims}" if name == "norm" else f"dim={dims}"
    reduced = f"{w.latest}.{name}({given}, keepdim={keep})"
    w.value(pick(reduced, f"{w.latest} + {reduced}", f"{w.latest} * {reduced}") if keep else reduced)


def cumulative(w: Writer, pick: Pick) -> None:
    w.value(f"{w.latest}.{pick('cumsum', 'softmax')}({pick(-1, 0, 1) if w.x.dim() > 1 else 0})")


def cast(w: Writer, pick: Pick) -> None:
    """Casts to another dtype, computes a function, and casts back."""
    x, dtype = w.latest, pick("torch.float32", "torch.float16", "torch.bfloat16", "torch.float64")
    inner = pick("{}", "torch.relu({})", "({} * 2)", "torch.softmax({}, -1)")
    w.value(f"{inner.format(f'{x}.to({dtype})')}.to({x}.dtype)")
