"""Steps that compute with integers and bools, and steps that mix dtypes. The latest value becomes a float."""

from __future__ import annotations

from export.fuzz.spec import Pick
from export.fuzz.writer import Writer

_INTEGERS = ("int64", "int32", "uint8", "int8", "int16")
_FLOATS = ("float64", "float32", "bfloat16", "float16")
# Of two tensors of integers or bools.
_OF_INTEGERS = (
    *("{a} + {b}", "{a} * {b}", "{a} - {b} * 2", "{a} // ({b} + 1)", "({a} - 3) // 2", "({a} - 3) % 2", "-{a} * 1"),
    *("{a} / ({b} + 1)", "torch.fmod({a} - 4, 3)", "torch.remainder({a} - 4, 3)", "({a} - 5).abs()", "{a} ** 2"),
    *("{a} & {b}", "{a} | 6", "{a} ^ {b}", "~{a}", "{a} << 2", "({a} - 3) >> 1", "torch.maximum({a}, {b})"),
    *("{a}.clamp(1, 4)", "torch.where({a} > {b}, {a}, {b})", "torch.where({a} > 2, {a}, -1)", "({a} - 2).sign()"),
    *("({a} > {b}) & ({a} != 1)", "({a} < {b}).logical_not()", "({a} <= 3) ^ ({b} <= 3)", "({a} == {b}) * 3"),
    *("torch.div({a} - 4, 3, rounding_mode='trunc')", "torch.div({a} - 4, 3, rounding_mode='floor')", "5 - {a}"),
)
_REDUCED = (
    *("({}).sum({}, keepdim=True)", "({}).cumsum({})", "({}).amax({}, keepdim=True)", "({}).sum(dtype=torch.int32)"),
    *("(({}) > 2).any({}, keepdim=True)", "(({}) > 0).all({}, keepdim=True)", "({}).prod({}, keepdim=True)"),
    *("({}).float().mean({}, keepdim=True)", "(({}) > 1).sum({}, keepdim=True)", "torch.count_nonzero({}, dim={})"),
)
# Of the latest value, another tensor of its sizes and dtype, and a dtype.
_MIXED = (
    *("{x} * torch.tensor(2.0, dtype={t})", "{x} + {y}.to({t})", "{x} + True", "{x} * torch.ones(1, dtype={t})"),
    *("torch.where(MASK, {x}, 1)", "torch.where(MASK, {x}, torch.tensor(0.5, dtype={t}))", "{x}.masked_fill(MASK, 2)"),
    *("torch.cat([{x}, {y}.to({t})])", "{x} - {y}.to({t}).mean()", "{x} / torch.tensor(3)", "2.5 * {x}.to({t})"),
    *("torch.where(MASK, {x}.to({t}), {y})", "MASK * {x}", "{x} * MASK.to({t})", "{x}.sum(-1, True, dtype={t}) + {y}"),
    *("torch.softmax({x}, -1, dtype={t})", "{x}.type_as({y}.to({t}))", "torch.add({x}, {y}.to({t}), alpha=2)"),
    *("torch.full_like({x}, 3, dtype=torch.int64) * {x}", "{x} + torch.arange({x}.shape[-1])", "{x}.new_ones(1) + {x}"),
    *("torch.clamp({x}, torch.tensor(-1.0, dtype={t}), torch.tensor(1.0, dtype={t}))", "{x} * math.pi"),
    *("torch.linspace(0, 1, {x}.shape[-1], dtype={t}) * {x}", "torch.eye({x}.shape[-1]) [0] * {x}"),
)
# Elementwise functions of one or two values.
_FUNCTIONS = (
    *("torch.lerp({x}, {y}, 0.3)", "torch.addcmul({x}, {y}, {y}, value=0.5)", "torch.hypot({x}, {y})"),
    *("torch.addcdiv({x}, {y}, {y}.abs() + 1)", "torch.atan2({x}, {y}.abs() + 0.5)", "torch.logaddexp({x}, {y})"),
    *("torch.nan_to_num({x}, 1.0)", "torch.where({x}.isnan(), 0, {x})", "torch.rsub({x}, 1, alpha=2)", "{x}.sinh()"),
    *(
        "torch.pow(2, {x}.clamp(-3, 3))",
        "({x}.abs() + 0.1) ** 0.5",
        "{x} ** 3",
        "({x}.abs() + 0.2) ** {y}.clamp(-2, 2)",
    ),
    *(
        "torch.copysign({x}, {y})",
        "{x}.reciprocal().clamp(-9, 9)",
        "torch.log1p({x}.abs())",
        "torch.expm1({x}.clamp(-3, 3))",
    ),
    *("torch.sinc({x})", "{x}.cos() + {y}.sin()", "torch.xlogy({x}, {y}.abs() + 1)", "torch.heaviside({x}, {y}) + {x}"),
    *("torch.fmax({x}, {y})", "torch.asinh({x})", "torch.atan({x})", "torch.deg2rad({x})", "torch.erfc({x})"),
    *(
        "torch.lgamma({x}.abs() + 1)",
        "torch.special.expit({x})",
        "torch.logit({x}.sigmoid(), 1e-3)",
        "torch.log2({x}.abs() + 1)",
    ),
)


def integers(w: Writer, pick: Pick) -> None:
    """Scales the latest value by a function of integers or bools."""
    w.check_floats()
    x, bound = w.latest, pick(7, 100, 2)
    one = w.input("ids", *w.x.shape, bound=bound)
    other = pick(one, "2", "torch.tensor(3)", f"{one}.flip(0)", f"{one}[:1]")
    kind = pick(*_INTEGERS)
    made = pick(*_OF_INTEGERS).format(a=f"{one}.to(torch.{kind})", b=other)
    if pick(True, False, False):
        made = pick(*_REDUCED).replace("{}", made, 1).replace("{}", str(pick(-1, 0)))
    if pick(False, False, True):
        made = f"F.one_hot({one}, {bound}).to(torch.{kind}).sum(-1)"
    w.value(pick(f"{x} * ({made}).to({x}.dtype)", f"{x} + ({made}) / 8", f"{x} - ({made})"))


def mixed_dtypes(w: Writer, pick: Pick) -> None:
    """Computes with values of several dtypes, whose result has the dtype that PyTorch's promotion gives."""
    w.check_floats()
    x = w.latest
    other = pick(f"{x}.flip(-1)", f"({x} * 2)")
    made = pick(*_MIXED).format(x=x, y=other, t=f"torch.{pick(*_FLOATS)}")
    name = w.value(w.masked(made))
    if pick(True, False):
        w.value(f"{name}.to({x}.dtype)")


def function(w: Writer, pick: Pick) -> None:
    """Applies an elementwise function of one or two values."""
    w.check_floats()
    x = w.latest
    alike = [name for name, one in w.values.items() if one.shape == w.x.shape and one.dtype == w.x.dtype]
    other = pick("input", *alike[::-1])
    w.value(pick(*_FUNCTIONS).format(x=x, y=w.input("floats", *w.x.shape) if other == "input" else other))


def loss(w: Writer, pick: Pick) -> None:
    """Scales the latest value by a loss or a distance."""
    w.check_floats()
    x, size = w.latest, w.x.shape[-1]
    rows = f"{x}.reshape(-1, {size})"
    other = w.input("floats", *w.x.shape)
    count = w.x.numel() // size
    how = f"reduction='{pick('mean', 'sum', 'none')}'"
    kind = pick("classes", "classes", "pair", "pair", "distance")
    if kind == "classes":
        classes = w.input("ids", count, bound=size)
        more = pick("", ", label_smoothing=0.1", ", ignore_index=0")
        made = pick(
            f"F.cross_entropy({rows}, {classes}, {how}{more})",
            f"F.nll_loss(F.log_softmax({rows}, -1), {classes}, {how})",
            f"F.cross_entropy({rows}, {other}.reshape(-1, {size}).softmax(-1), {how})",
            f"F.multi_margin_loss({rows}, {classes}, {how})",
        )
    elif kind == "pair":
        name = pick("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "poisson_nll_loss")
        made = pick(
            f"F.{name}({x}, {other}, {how})",
            f"F.binary_cross_entropy_with_logits({x}, {other}.sigmoid(), {how})",
            f"F.kl_div(F.log_softmax({x}, -1), {other}.softmax(-1), {how})",
            f"F.binary_cross_entropy({x}.sigmoid(), {other}.sigmoid(), {how})",
        )
    else:
        made = pick(
            f"F.cosine_similarity({x}, {other}, dim=-1)",
            f"F.pairwise_distance({rows}, {other}.reshape(-1, {size}))",
            f"torch.cdist({rows}, {other}.reshape(-1, {size}))",
            f"torch.dist({x}, {other})",
            f"F.triplet_margin_loss({rows}, {other}.reshape(-1, {size}), -{rows}, {how})",
        )
    w.value(pick(f"{x} * ({made}).mean()", made, f"({made}).sum() + {x}"))
