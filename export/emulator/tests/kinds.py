"""Modules of the kinds whose programs were wrong: views of channels-last memory, state, control flow, in-place writes.

Each kind has siblings. A test exports all of them without passes, with the default passes and with all passes.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

_TEMPLATE = """\
import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
{init}

    def forward(self, {takes}):
{forward}


def get_model():
    return Model(), ({example})


def get_sample_inputs():
    torch.manual_seed(1)
    return [{samples}]
"""
_DYNAMIC_TEMPLATE = (
    _TEMPLATE.replace("({example})", "next(_inputs())").replace("[{samples}]", "list(_inputs())")
    + """

def _inputs():
    for n in (6, 5, 13):
        yield ({example})


def get_dynamic_shapes():
    return ({dynamic})
"""
)
_LAST = ".to(memory_format=torch.channels_last)"


@dataclass(frozen=True)
class Kind:
    """A module.

    Attributes:
        forward: the lines of forward(), whose inputs are x0, x1...
        inputs: Python expressions of the inputs.
        init: the lines of the constructor.
        dynamic: for each input, the dimension with the size `n` or a multiple, if there is one. The runs have different
            sizes.
    """

    forward: str
    inputs: tuple[str, ...]
    init: str = "pass"
    dynamic: tuple[int | None, ...] = ()

    def source(self) -> str:
        """Returns the text of the model file. The module runs three times."""
        example = "".join(f"{one}, " for one in self.inputs)
        hint = "torch.export.Dim.AUTO(min=2, max=30)"
        return (_DYNAMIC_TEMPLATE if self.dynamic else _TEMPLATE).format(
            dynamic="".join("None, " if dim is None else f"{{{dim}: {hint}}}, " for dim in self.dynamic),
            init=textwrap.indent(textwrap.dedent(self.init).strip(), " " * 8),
            forward=textwrap.indent(textwrap.dedent(self.forward).strip(), " " * 8),
            takes=", ".join(f"x{index}" for index in range(len(self.inputs))),
            example=example,
            samples=", ".join([f"({example})"] * 3),
        )


def _views_of_channels_last() -> dict[str, Kind]:
    views = {
        "pixel_shuffle": "F.pixel_shuffle({}, 2)",
        "pixel_unshuffle": "F.pixel_unshuffle({}, 2)",
        "channel_shuffle": "F.channel_shuffle({}, 2)",
        "groups": "{}.reshape(2, 2, 4, 6, 8).permute(0, 2, 1, 3, 4)",
        "patches": "{}.reshape(2, 8, 3, 2, 4, 2).permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)",
        "flatten": "{}.flatten(1)",
        "tokens": "{}.flatten(2).transpose(1, 2)",
        "unflatten": "{}.unflatten(1, (2, 4)).sum(1)",
        "unsqueeze": "{}.unsqueeze(1).squeeze(1)",
        "rows": "{}.reshape(-1, 8) * 2",
    }
    kinds = {}
    for name, view in views.items():
        given = Kind(f"return {view.format('x0')}", (f"torch.randn(2, 8, 6, 8){_LAST}",))
        kinds[f"{name} of a channels-last input"] = given
        inside = Kind(f"y = (x0 + 1){_LAST}\nreturn {view.format('y')}", ("torch.randn(2, 8, 6, 8)",))
        kinds[f"{name} of a value made channels-last"] = inside
        layer = Kind(
            f"return {view.format('self.layer(x0)')}",
            ("torch.randn(2, 8, 6, 8)",),
            "self.layer = nn.Conv2d(8, 8, 3, padding=1).to(memory_format=torch.channels_last)",
        )
        kinds[f"{name} of a convolution with a channels-last weight"] = layer
    kinds["super-resolution"] = Kind(
        "return F.pixel_shuffle(self.b(torch.relu(self.a(x0))), 2)",
        (f"torch.randn(1, 3, 8, 8){_LAST}",),
        "self.a = nn.Conv2d(3, 16, 3, padding=1)\nself.b = nn.Conv2d(16, 12, 3, padding=1)",
    )
    kinds["vision transformer's patches"] = Kind(
        "return self.layer(self.patch(x0).flatten(2).transpose(1, 2))",
        (f"torch.randn(1, 3, 8, 8){_LAST}",),
        "self.patch = nn.Conv2d(3, 16, 4, 4)\nself.layer = nn.Linear(16, 16)",
    )
    return kinds


def _one_channel_or_pixel() -> dict[str, Kind]:
    to_one = "self.first = nn.Conv2d(16, 1, 3, padding=1)"
    ends = {
        "a convolution": ("self.last(y)", "self.last = nn.Conv2d(1, 2, 3, padding=1)"),
        "a transposed convolution": ("self.last(y)", "self.last = nn.ConvTranspose2d(1, 2, 2, 2)"),
        "an upsampling": ("F.interpolate(y, scale_factor=2.0)", "pass"),
        "a pool": ("F.max_pool2d(y, 3, 1, 1)", "pass"),
        "a sum": ("y + 1", "pass"),
    }
    views = {"flatten(2)": ".flatten(2)", "squeeze(1)": ".squeeze(1)", "flatten(1)": ".flatten(1)", "mT": ".mT @ z"}
    kinds = {}
    for end, (call, init) in ends.items():
        for view, text in views.items():
            forward = f"y = self.first(x0)\nz = {call}\nreturn z{text} * 2"
            kinds[f"one channel, {end}, {view}"] = Kind(forward, ("torch.randn(1, 16, 9, 9)",), f"{to_one}\n{init}")
    kinds["one channel, a head"] = Kind(
        "return self.net(x0)",
        ("torch.randn(1, 16, 9, 9)",),
        "self.net = nn.Sequential(nn.Conv2d(16, 1, 3, padding=1), nn.Conv2d(1, 2, 3, padding=1), nn.Flatten(2),"
        " nn.Linear(81, 4))",
    )
    kinds["one pixel"] = Kind(
        "return self.b(self.a(x0)).flatten(1) + F.pixel_shuffle(self.b(self.a(x0)), 2).flatten(1)",
        ("torch.randn(2, 16, 1, 1)",),
        "self.a = nn.Conv2d(16, 32, 1)\nself.b = nn.Conv2d(32, 8, 3, padding=1)",
    )
    kinds["one pixel of a batch of one"] = Kind(
        "y = F.adaptive_avg_pool2d(self.a(x0), 1)\nreturn (self.b(y) * self.a(x0)).flatten(2).mT",
        ("torch.randn(1, 16, 8, 8)",),
        "self.a = nn.Conv2d(16, 32, 3, padding=1)\nself.b = nn.Conv2d(32, 32, 1)",
    )
    for dtype in ("torch.float16", "torch.bfloat16"):
        kinds[f"one channel, {dtype}"] = Kind(
            "return self.net(x0).flatten(2)",
            (f"torch.randn(1, 16, 9, 9).to({dtype})",),
            f"self.net = nn.Sequential(nn.Conv2d(16, 1, 3, padding=1), nn.Conv2d(1, 2, 3, padding=1)).to({dtype})",
        )
    return kinds


def _layers_of_permuted() -> dict[str, Kind]:
    layers = {
        "LayerNorm": "nn.LayerNorm(16)",
        "RMSNorm": "nn.RMSNorm(16)",
        "Linear": "nn.Linear(16, 16)",
        "Softmax": "nn.Softmax(-1)",
    }
    kinds = {}
    for name, layer in layers.items():
        kinds[f"{name} between convolutions"] = Kind(
            "y = self.norm(self.a(x0).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)\nreturn self.b(y)",
            ("torch.randn(1, 16, 8, 8)",),
            f"self.a = nn.Conv2d(16, 16, 1)\nself.norm = {layer}\nself.b = nn.Conv2d(16, 16, 3, padding=1, bias=False)",
        )
        kinds[f"{name} before a convolution"] = Kind(
            "return self.b(self.norm(x0).permute(0, 3, 1, 2))",
            ("torch.randn(1, 8, 8, 16)",),
            f"self.norm = {layer}\nself.b = nn.Conv2d(16, 16, 3, padding=1, bias=False)",
        )
        kinds[f"{name} of a channels-last value"] = Kind(
            "return self.norm(x0) * 2",
            (f"torch.randn(3, 1, 8, 16){_LAST}",),
            f"self.norm = {layer}",
        )
        kinds[f"{name} of a channels-last value of several channels"] = Kind(
            "return self.norm(x0) * 2",
            (f"torch.randn(3, 4, 8, 16){_LAST}",),
            f"self.norm = {layer}",
        )
        kinds[f"{name} of one channel made channels-last"] = Kind(
            f"return self.norm((x0 + 1){_LAST}) * 2", ("torch.randn(3, 1, 8, 16)",), f"self.norm = {layer}"
        )
        kinds[f"{name} after a convolution to one channel"] = Kind(
            "return self.norm(self.a(x0))",
            ("torch.randn(2, 16, 8, 16)",),
            f"self.a = nn.Conv2d(16, 1, 3, padding=1)\nself.norm = {layer}",
        )
    kinds["a norm between wide convolutions"] = Kind(
        "y = self.norm(self.a(x0).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)\nreturn self.b(y)",
        ("torch.randn(1, 64, 16, 16)",),
        "self.a = nn.Conv2d(64, 64, 1)\nself.norm = nn.LayerNorm(64)\n"
        "self.b = nn.Conv2d(64, 64, 3, padding=1, bias=False)",
    )
    kinds["attention of channels-last values"] = Kind(
        "y = self.a(x0)\nreturn F.scaled_dot_product_attention(y, y, y)",
        ("torch.randn(2, 16, 8, 8)",),
        "self.a = nn.Conv2d(16, 16, 3, padding=1)",
    )
    return kinds


def _state() -> dict[str, Kind]:
    p, s = 'self.register_buffer("p", torch.tensor([5.0, 6.0]))', 'self.register_buffer("s", torch.zeros(2))'
    q = 'self.register_buffer("q", torch.tensor([1.0, 2.0]))'
    x = ("torch.tensor([1.0, 2.0])",)
    return {
        "a buffer from a buffer": Kind("y = self.s + x0\nself.s.copy_(self.p)\nreturn y", x, f"{p}\n{s}"),
        "a buffer from a view of a buffer": Kind(
            "y = self.s + x0\nself.s.copy_(self.p.view(1, 2)[0])\nreturn y", x, f"{p}\n{s}"
        ),
        "a buffer from an input": Kind("y = self.s + x0\nself.s.copy_(x0)\nreturn y", x, s),
        "a buffer from a parameter": Kind(
            "y = self.s + x0\nself.s.copy_(self.w)\nreturn y", x, f"{s}\nself.w = nn.Parameter(torch.ones(2))"
        ),
        "a buffer from a constant": Kind("y = self.s + x0\nself.s.copy_(torch.tensor([3.0, 4.0]))\nreturn y", x, s),
        "a delay line": Kind(
            "y = self.s + x0\nself.s.copy_(self.p)\nself.p.copy_(self.q)\nself.q.copy_(x0)\nreturn y",
            x,
            f"{p}\n{s}\n{q}",
        ),
        "a delay line the other way": Kind(
            "self.q.copy_(x0)\nself.p.copy_(self.q)\nself.s.copy_(self.p)\nreturn self.s + 1", x, f"{p}\n{s}\n{q}"
        ),
        "a swap": Kind("t = self.s.clone()\nself.s.copy_(self.p)\nself.p.copy_(t)\nreturn self.s + x0", x, f"{p}\n{s}"),
        "a swap of computed values": Kind(
            "a, b = self.p + 1, self.s + 2\nself.s.copy_(a)\nself.p.copy_(b)\nreturn self.s * self.p + x0",
            x,
            f"{p}\n{s}",
        ),
        "a buffer assigned from a view of a buffer": Kind(
            "y = self.s + x0\nself.s = self.p.view(1, 2)[0]\nself.p = self.p + 1\nreturn y", x, f"{p}\n{s}"
        ),
        "an assigned buffer of a submodule": Kind(
            "y = self.m.s + x0\nself.m.s = y * 2\nreturn y",
            x,
            'self.m = nn.Module()\nself.m.register_buffer("s", torch.zeros(2))',
        ),
        "a view assigned to a buffer of a submodule": Kind(
            "y = torch.cat([self.m[0].s, x0])\nself.m[0].s = y[-2:]\nreturn y * 2",
            x,
            'self.m = nn.ModuleList([nn.Module()])\nself.m[0].register_buffer("s", torch.zeros(2))',
        ),
        "an assigned buffer after one without a value": Kind(
            "y = self.s + x0\nself.s = y * 2\nreturn y - self.p", x, f'self.register_buffer("n", None)\n{s}\n{p}'
        ),
        "buffers that a run before the export computed": Kind(
            "y = self.layer(x0) + self.s + self.p\nself.s = y * 2\nself.p.copy_(y)\nreturn y",
            x,
            f"self.layer = nn.Linear(2, 2)\n{s}\n{p}\nself.s = self.layer(self.s)\nself.p = self.layer(self.p)[:]",
        ),
        "a buffer that a hook before forward() assigns": Kind(
            "return x0 + self.s",
            x,
            f"{s}\ndef add(module, given):\n    module.s = module.s + given[0]\nself.register_forward_pre_hook(add)",
        ),
        "a buffer that is written with gradients": Kind(
            "with torch.enable_grad():\n    y = self.layer(x0)\n    self.s.copy_(y)\nreturn y + self.s",
            x,
            f"{s}\nself.layer = nn.Linear(2, 2)",
        ),
        "a swap by assignments": Kind("y = self.s - x0\nself.s, self.p = self.p, self.s\nreturn y", x, f"{p}\n{s}"),
        "buffers assigned from an input and a parameter": Kind(
            "y = self.s + x0 * self.p\nself.s = x0\nself.p = self.w\nreturn y",
            x,
            f"{p}\n{s}\nself.w = nn.Parameter(torch.ones(2))",
        ),
        "buffers assigned from constants": Kind(
            "y = self.s + self.p * x0\nself.s = self.c\nself.p = torch.full((2,), 3.0)\nreturn y",
            x,
            f"{p}\n{s}\nself.c = torch.ones(2)",
        ),
        "the old value": Kind("y = self.s.clone()\nself.s.copy_(x0)\nreturn y", x, s),
        "the old value's view": Kind("y = self.s.clone().view(2, 1)\nself.s.add_(x0)\nreturn y", x, s),
        "the new value": Kind("self.s.add_(x0)\nreturn self.s, self.s.view(2, 1)", x, s),
        "two buffers from a view of one": Kind(
            "v = self.q.view(1, 2).clone()\nself.q.copy_(x0)\nself.s.copy_(v[0])\nself.p.copy_(v[0] + 1)\nreturn v",
            x,
            f"{p}\n{s}\n{q}",
        ),
        "a buffer written twice": Kind("self.s.add_(x0)\ny = self.s * 2\nself.s.mul_(3)\nreturn y", x, s),
        "an index_copy after a copy": Kind(
            "self.g.copy_(self.h)\nself.h.index_copy_(0, torch.tensor([1]), x0[None])\nreturn self.g + self.h",
            x,
            'self.register_buffer("g", torch.zeros(3, 2))\nself.register_buffer("h", torch.ones(3, 2))',
        ),
        "an index_copy into a copy": Kind(
            "self.g.copy_(self.h)\nself.g.index_copy_(0, torch.tensor([1]), x0[None])\nreturn self.g + self.h",
            x,
            'self.register_buffer("g", torch.zeros(3, 2))\nself.register_buffer("h", torch.ones(3, 2))',
        ),
        "a write through a view": Kind(
            "self.g.view(-1)[2:4] = x0\nself.g[0].add_(1)\nreturn self.g * 2",
            x,
            'self.register_buffer("g", torch.zeros(3, 2))',
        ),
        "a written input": Kind("x0.add_(1)\nself.s.copy_(x0)\nreturn x0 * 2", x, s),
        "two written inputs": Kind(
            "x0.copy_(x1)\nx1.add_(1)\nreturn x0 + x1", ("torch.tensor([1.0, 2.0])", "torch.tensor([3.0, 4.0])")
        ),
        "the former value of an assigned buffer": Kind("y = self.s\nself.s = self.s + x0\nreturn y, self.s", x, s),
        "the written and former value of an assigned buffer": Kind(
            "self.s.add_(x0)\ny = self.s\nself.s = x0 * 2\nreturn y, y[:1], self.s", x, s
        ),
        "a view of the former value of an assigned buffer": Kind("y = self.s[:1]\nself.s = x0 * 2\nreturn y", x, s),
        "buffers of several dtypes": Kind(
            "self.b.add_(1)\nself.s.mul_(x0)\nreturn self.b * 1, self.s * 1",
            x,
            'self.register_buffer("b", torch.tensor([3, 4, 5], dtype=torch.uint8))\n'
            'self.register_buffer("s", torch.tensor([1.5, 2.5], dtype=torch.float64))',
        ),
        "a buffer of negative zeros": Kind(
            "y = 1 / self.s\nself.s.copy_(x0)\nreturn y", x, 'self.register_buffer("s", torch.tensor([-0.0, 0.0]))'
        ),
        "a batch norm of training": Kind(
            "self.n.train()\nreturn self.n(x0), self.n.running_mean * 1, self.n.num_batches_tracked + 0",
            ("torch.randn(4, 3, 5)",),
            "self.n = nn.BatchNorm1d(3)",
        ),
        "a parameter written between two reads": Kind(
            "y = self.w * 2\nself.w.copy_(x0)\nreturn y + self.w",
            x,
            "self.w = nn.Parameter(torch.ones(2), requires_grad=False)",
        ),
    }


def _control_flow() -> dict[str, Kind]:
    x = ("torch.randn(4, 6)",)
    image = (f"torch.randn(2, 8, 4, 3){_LAST}",)
    branches = "self.l = nn.Linear(6, 6)"

    def cond(inputs: str, then: str, otherwise: str, positive: str = "x0.sum() > 0") -> str:
        return f"torch.cond({positive}, lambda a: {then}, lambda a: {otherwise}, ({inputs},))"

    one, two = cond("x0", "a * 2 + 1", "a - 3"), cond("x0", "a + 5", "a * 7 - 1", "x0.sum() > 1000")
    return {
        "two conds on one input": Kind(f"a = {one}\nb = {two}\nreturn a + b", x),
        "two conds returned": Kind(f"a = {one}\nb = {two}\nreturn a, b", x),
        "a cond of a cond": Kind(f"y = {one}\nreturn {cond('y', 'a + 5', 'a * 7 - 1')} + y", x),
        "three conds": Kind(f"a = {one}\nb = {two}\nc = {cond('a', 'a - 1', 'a + 1')}\nreturn a * b - c", x),
        "a nested cond": Kind(
            f"def f(a):\n    b = {cond('a', 'a + 1', 'a - 1', 'a.sum() > 2')}\n"
            f"    c = {cond('a', 'a * 3', 'a * 4', 'a.sum() > 3')}\n    return b * c\n"
            "return torch.cond(x0.sum() > 0, f, f, (x0,)) * 2",
            x,
        ),
        "a nested cond on both sides": Kind(
            f"def f(a):\n    b = a * 2\n    c = {cond('b', 'a + 1', 'a - 1', 'a.sum() > 2')}\n    return b * c, c + 1\n"
            "def g(a):\n    return a + 1, a - 1\n"
            f"y = {two}\nb, c = torch.cond(x0.sum() > 0, f, g, (x0,))\nreturn y + b - c",
            x,
        ),
        "a cond with two results": Kind(
            f"a, b = {cond('x0', '(a * 2, a + 1)', '(a - 3, a * a)')}\nc = {two}\nreturn a + b * c", x
        ),
        "a cond with a result of another size": Kind(
            f"a, b = {cond('x0', '(a.sum(0), a + 1)', '(a.amax(0), a * a)')}\nc = {two}\nreturn a + b * c", x
        ),
        "a cond, then a map": Kind(
            f"from torch._higher_order_ops.map import map\na = {one}\n"
            "b = map(lambda r, w: r * w + 1, x0, x0[0] * 2)\nreturn a + b, a",
            x,
        ),
        "a map, then a cond": Kind(
            f"from torch._higher_order_ops.map import map\nb = map(lambda r, w: r * w + 1, x0, x0[0] * 2)\na = {one}\n"
            "return a + b, a, b",
            x,
        ),
        "a view of a cond": Kind(f"return {one}.unsqueeze(0) + 1", x),
        "a flattened cond": Kind(f"return {one}.flatten() * 2", x),
        "a view of a cond, returned": Kind(f"y = {one}\nreturn y.view(6, 4), y", x),
        "a linear layer of a cond": Kind(f"return self.l({one})", x, branches),
        "a linear layer in a cond": Kind(f"return {cond('x0', 'self.l(a)', 'a - 3')} + {two}", x, branches),
        "a convolution of a cond": Kind(
            f"return self.l({cond('x0', 'a * 2', 'a - 3')})",
            ("torch.randn(2, 4, 16)",),
            "self.l = nn.Conv1d(4, 8, 3, padding=1)",
        ),
        "a cond of an image": Kind(
            f"y = self.a(x0)\nreturn self.b({cond('y', 'a * 2', 'a - 3')}).flatten(1)",
            ("torch.randn(1, 16, 8, 8)",),
            "self.a = nn.Conv2d(16, 16, 3, padding=1)\nself.b = nn.Conv2d(16, 16, 3, padding=1)",
        ),
        "a written parameter, then a cond": Kind(
            f"y = {one} + self.w\nself.w.copy_(x0[0])\nreturn y * self.w",
            x,
            "self.w = nn.Parameter(torch.ones(6))",
        ),
        "a cond whose result is state": Kind(
            f"y = {one}\nself.s.copy_(y)\nz = {two}\nreturn self.s + z",
            x,
            'self.register_buffer("s", torch.zeros(4, 6))',
        ),
        "a scan": Kind(
            "from torch._higher_order_ops.scan import scan\n"
            "def f(c, a):\n    n = torch.tanh(self.l(a) + c)\n    return n, n * 2\n"
            "c, y = scan(f, torch.zeros(6), x0)\nreturn c + 1, y",
            x,
            branches,
        ),
        "a scan in reverse": Kind(
            "from torch._higher_order_ops.scan import scan\n"
            "def f(c, a):\n    n = torch.tanh(self.l(a) + c)\n    return n, n * 2\n"
            "c, y = scan(f, torch.zeros(6), x0, reverse=True)\nreturn c + 1, y",
            x,
            branches,
        ),
        "a map of a channels-last input": Kind(
            "from torch._higher_order_ops.map import map\ny = map(lambda r: r * 2, x0)\nreturn y + x0, y", image
        ),
        "a map of channels-last rows": Kind(
            "from torch._higher_order_ops.map import map\n"
            "y = map(lambda r: self.l(r), x0.unsqueeze(1))\nreturn y.flatten(1) + 1, y",
            image,
            "self.l = nn.Conv2d(8, 16, 3, padding=1)",
        ),
        "a scan of a channels-last input": Kind(
            "from torch._higher_order_ops.scan import scan\n"
            "c, y = scan(lambda c, a: (c + a, c * a), x0[0] * 0, x0)\nreturn c + 1, y + x0",
            image,
        ),
        "a view of a map": Kind(
            "from torch._higher_order_ops.map import map\n"
            "y = map(lambda r: r * 2, x0)\nreturn y.view(24) + 1, torch.stack([y, y.relu()], -1)",
            x,
        ),
        "views of a scan": Kind(
            "from torch._higher_order_ops.scan import scan\n"
            "def f(c, a):\n    return c + a, c * a\n"
            "c, y = scan(f, torch.zeros(6), x0)\nreturn c.view(2, 3) * 2, y.view(24) + 1",
            x,
        ),
        "a scan, then a cond": Kind(
            "from torch._higher_order_ops.scan import scan\n"
            "def f(c, a):\n    n = c + a\n    return n, n * 2\n"
            f"c, y = scan(f, torch.zeros(6), x0)\nz = {one}\nreturn c + z, y - z",
            x,
        ),
    }


def _writes() -> dict[str, Kind]:
    x = ("torch.randn(4, 6)", "torch.tensor([1, 5])", "torch.tensor([10.0, 20.0])")
    put = "z = (x0 * 2).view(24).index_put((x1,), x2)"
    return {
        "a written view, viewed and returned": Kind(f"{put}\nreturn z, z.view(4, 6) + 1", x),
        "a written view, viewed twice": Kind(f"{put}\nreturn z.view(4, 6) + 1, z.view(6, 4) * 2", x),
        "a written view, its base, returned": Kind(
            "b = x0 * 2\nz = b.view(24).index_put((x1,), x2)\nreturn z, z.view(4, 6) + 1, b", x
        ),
        "a written value, returned, with its view": Kind(
            "z = (x0 * 2).index_put((x1 % 4,), x0[:2])\nreturn z, z.view(24) + 1", x
        ),
        "two writes of one view": Kind(
            "b = (x0 * 2).view(24)\ny = b.index_put((x1,), x2)\nz = y.index_put((x1 + 1,), x2 + 1)\n"
            "return z.view(4, 6) * 2, z",
            x,
        ),
        "two writes of one base": Kind(
            "b = (x0 * 2).view(24)\ny = b.index_put((x1,), x2)\nz = b.index_put((x1 + 1,), x2)\n"
            "return y.view(4, 6) * 2, z.view(4, 6) + 1",
            x,
        ),
        "a write after a returned view": Kind(
            "b = x0 * 2\nv = b.view(24)\nz = b.index_put((x1 % 4,), x0[:2])\nreturn v, z + 1", x
        ),
        "a write by a slice": Kind("b = x0 * 2\nv = b.view(24)\nv[2:4] = x2\nreturn b + 1, v", x),
        "a written diagonal": Kind("y = x0 * 2\ny.diagonal().add_(1)\ny.t().diagonal(1).mul_(2)\nreturn y", x[:1]),
        "a write to overlapping rows": Kind(
            "y = x0.flatten() * 1\ny.as_strided((3, 2), (4, 1), 1).mul_(2)\nreturn y + 1", x[:1]
        ),
        "a write to memory of an open size": Kind(
            "n = torch.nonzero(x0)[:, 0]\ntorch._check(n.shape[0] <= 5)\n"
            "y = n.new_empty(n.shape[0] + 1)\ny[0] = 7\ny[1:] = n\nreturn y",
            ("torch.tensor([1.0, 0.0, 2.0, 0.0, 3.0])",),
        ),
        "a view of a written view, returned": Kind(
            "y = torch.zeros(24)\ny[x1] = x0\nreturn y.view(4, 6), y.view(2, 12) + 1",
            ("torch.randn(2)", "torch.tensor([3, 7])"),
        ),
        "the inverse of a pooling": Kind(
            "y, i = F.max_pool2d(x0, 2, return_indices=True)\nreturn F.max_unpool2d(y * 2, i, 2)",
            ("torch.randn(1, 2, 4, 6)",),
        ),
        "a write of a buffer's view": Kind(
            "self.g.view(24).index_copy_(0, x1, x2)\nreturn self.g + 1, self.g.view(6, 4) * 2",
            x,
            'self.register_buffer("g", torch.zeros(4, 6))',
        ),
        "a linear layer under vmap": Kind(
            "return torch.vmap(lambda a: F.linear(a, self.w, self.b))(x0[None])",
            x[:1],
            "self.w = nn.Parameter(torch.randn(3, 6))\nself.b = nn.Parameter(torch.randn(3))",
        ),
        "a bias of one element": Kind(
            "y = F.embedding(x0, self.w).flatten(0, 1)\nreturn torch.addmm(self.b, y, self.w.t())",
            ("torch.tensor([[1, 2]])",),
            "self.w = nn.Parameter(torch.randn(7, 6))\nself.b = nn.Parameter(torch.randn(1))",
        ),
    }


def _copies_into_buffers() -> dict[str, Kind]:
    """Copies into buffers of another dtype, shape or order of elements, and without a conversion."""
    lines = "y = self.g + 1\nself.g.copy_({})\nreturn y, self.g * 2, self.g.view(-1)"
    x = ("torch.randn(4, 6) * 3",)
    of_dtype = 'self.register_buffer("g", torch.zeros(4, 6, dtype=torch.{}))'
    return {
        f"a copy of {what} into a buffer of {dtype}": Kind(lines.format(source), x, of_dtype.format(dtype))
        for what, source, dtype in (
            ("floats", "x0", "float16"),
            ("floats", "x0", "int32"),
            ("floats", "x0 > 0", "float32"),
            ("a row", "x0[1]", "float32"),
            ("a row", "x0[1]", "int64"),
            ("a transposed tensor", "x0.view(6, 4).t()", "float32"),
            ("a tensor of the same kind", "x0 * 2", "float32"),
        )
    }


def _numbers() -> dict[str, Kind]:
    """Calculations with numbers, whose results ExecuTorch's runtime computes."""
    x = ("torch.tensor(-5)", "torch.ones(2)")
    item = "n = x0.item()\ntorch._check(n > -99)\ntorch._check(n < 99)\n"
    return {
        "a remainder of a negative number": Kind(f"{item}return x1 * (n % 4), n % 4", x),
        "a power of a number": Kind(f"{item}return x1 * n**2 + n**3", x),
        "a remainder by a negative number": Kind(f"{item}return x1 * ((7 - n) % -5)", x),
        "padding to a multiple": Kind(
            "n = x0.item()\ntorch._check(n > 0)\ntorch._check(n < 9)\n"
            "return F.pad(torch.arange(n) * 2, (0, -n % 4)).view(-1, 4).sum(1)",
            ("torch.tensor(5)",),
        ),
    }


def _padded_attention() -> dict[str, Kind]:
    """Attention for which eager PyTorch has a path of its own, or asks for the values of a mask."""
    return {
        "transformers with masks": Kind(
            "y = self.encoder(x0, mask=x1)\n"
            "return self.decoder(y, x0, tgt_mask=nn.Transformer.generate_square_subsequent_mask(5))",
            ("torch.randn(2, 5, 8)", "torch.arange(5) > 1 + torch.arange(5).unsqueeze(1)"),
            "self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1)\n"
            "self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 1)",
        ),
        "a transformer with padding": Kind(
            "return self.layers(x0, src_key_padding_mask=x1)",
            ("torch.randn(2, 5, 8)", "torch.arange(5).expand(2, 5) > torch.tensor([[4], [2]])"),
            "self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1)",
        ),
    }


def _flexible_attention() -> dict[str, Kind]:
    """Attention whose scores and whose mask are functions of indices."""
    imports = "from torch.nn.attention.flex_attention import create_block_mask, flex_attention\n"
    tokens = ("torch.randn(2, 4, 7, 8)",) * 3
    position = "def position(score, batch, head, query, key):\n    return score + self.table[head, query - key + 6]\n"
    table = "self.table = nn.Parameter(torch.randn(4, 13))"
    return {
        "attention by a mask of documents": Kind(
            f"{imports}def same(batch, head, query, key):\n"
            "    return (x3[batch, query] == x3[batch, key]) & (query >= key)\n"
            "mask = create_block_mask(same, 2, None, 7, 7, device='cpu')\n"
            "return flex_attention(x0, x1, x2, block_mask=mask)",
            (*tokens, "torch.randint(3, (2, 7))"),
        ),
        "attention by a function of positions": Kind(
            f"{imports}{position}return flex_attention(x0, x1, x2, score_mod=position)", tokens, table
        ),
        "attention by compiled functions, and the sums of scores": Kind(
            f"{imports}{position}y, sums = torch.compile(flex_attention)(x0, x1[:, :2], x2[:, :2], score_mod=position,"
            " enable_gqa=True, return_lse=True)\nreturn y, sums",
            tokens,
            table,
        ),
        "attention by a mask of bfloat16": Kind(
            f"{imports}mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 7, 7, device='cpu')\n"
            "return flex_attention(x0.bfloat16(), x1.bfloat16(), x2.bfloat16(), block_mask=mask)",
            tokens,
        ),
        "sizes: attention by a mask": Kind(
            f"{imports}mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, x0.shape[2], x1.shape[2],"
            " device='cpu')\nreturn flex_attention(x0, x1, x2, block_mask=mask)",
            ("torch.randn(2, 4, n, 8)",) * 3,
            dynamic=(2, 2, 2),
        ),
    }


def _regions() -> dict[str, Kind]:
    """The only value that goes into a region of torch.autocast. PyTorch forgets its users before the region."""
    region = 'with torch.autocast("cuda", enabled=False):\n    z = torch.relu(y) * n\nreturn self.layer(z)'
    x, layer = ("torch.randn(3, 4)",), "self.layer = nn.Linear(4, 4)"
    return {
        "a value viewed before a region": Kind(f"y = self.layer(x0)\nn = y[:, 1:].shape[1]\n{region}", x, layer),
        "a value kept before a region": Kind(
            f"y = self.layer(x0)\nself.last.copy_(y)\nn = 2\n{region}",
            x,
            f'{layer}\nself.register_buffer("last", torch.ones(3, 4))',
        ),
    }


def _positions() -> dict[str, Kind]:
    """Writes to the place of a buffer that another buffer gives, as to a cache of keys."""
    cache = 'self.register_buffer("c", torch.zeros(2, 9, 4))'
    n = 'self.register_buffer("n", torch.tensor(0))'
    return {
        "a row at a position": Kind(
            "self.c[:, self.n] = x0\nself.n += 1\nreturn self.c.sum(1), self.n.float()",
            ("torch.randn(2, 4)",),
            f"{cache}\n{n}",
        ),
        "rows from a position": Kind(
            "end = self.n + x0.shape[1]\nself.c[:, self.n : end] = x0 * 2\nself.n = end\nreturn self.c * 1",
            ("torch.randn(2, 3, 4)",),
            f"{cache}\n{n}",
        ),
        "the last element and a position": Kind(
            "self.c[-1, ..., x1] = 3\nself.c[x1 - 1, self.n, 1:] = x0\nself.n.add_(1)\nreturn self.c * 1",
            ("torch.randn(3)", "torch.tensor(0)"),
            f"{cache}\n{n}",
        ),
    }


def _values_of_buffers() -> dict[str, Kind]:
    """Python's code that depends on values of buffers."""
    x = ("torch.randn(2)",)
    flag, times = (
        f'self.register_buffer("{name}", torch.tensor({value}))'
        for name, value in (("f", True), ("t", [0.0, 0.5, 2.0]))
    )
    count = 'self.register_buffer("n", torch.tensor(3))'
    return {
        "a branch of a buffer": Kind("if self.f:\n    return x0 * 2\nreturn x0", x, flag),
        "a branch of a buffer in a region": Kind(
            'with torch.autocast("cuda", enabled=False):\n    y = x0 * 2 if self.f else x0\nreturn y + 1', x, flag
        ),
        "steps of a buffer": Kind(
            "assert (self.t[1:] > self.t[:-1]).all()\nfor a, b in zip(self.t, self.t[1:]):\n"
            "    x0 = x0 + torch.tanh(x0) * (b - a if b > 1 else a)\nreturn x0",
            x,
            times,
        ),
        "steps of an attribute": Kind(
            "for i, t in enumerate(self.t):\n    x0 = x0 * self.a[t] + (i if t == 2 else self.a[t - 1])\nreturn x0",
            x,
            "self.t = torch.tensor([3, 2, 1])\nself.a = torch.linspace(0, 1, 5)",
        ),
        "a size of a buffer": Kind("return x0.repeat(int(self.n)) + torch.arange(int(self.n * 2))", x, count),
        "a branch of a buffer beside written ones": Kind(
            "self.n.add_(1)\ny = x0 * 2 if self.f else x0\nself.t[1:] = y\nreturn y + self.n, self.t * 1",
            x,
            f"{flag}\n{times}\n{count}",
        ),
    }


def _calls_that_leave_a_trace() -> dict[str, Kind]:
    """Calls for which a trace has no operators, unless they are redirected."""
    x = ("torch.randn(3)",)
    return {
        "the data of tensors": Kind(
            "y = x0.data * self.w.data + self.g.data\nself.g.data = y * 2\nself.g.data[1:].mul_(2)\nself.w.data += 1\n"
            "return y, self.g + 1, self.w * x0",
            x,
            'self.w = nn.Parameter(torch.ones(3))\nself.register_buffer("g", torch.zeros(3))',
        ),
        "the data of a result": Kind(
            "y = x0 * 2\nself.w.data = y\nself.w.data[1:].mul_(2)\ny.add_(1)\nz = self.w * 3\ny.sub_(x0)\n"
            "return z, self.w + 1, y * 1",
            x,
            "self.w = nn.Parameter(torch.ones(3))",
        ),
        "copies": Kind(
            "from copy import copy, deepcopy\ny, z = deepcopy({'a': [x0, x0], 'b': self.g}), copy(self.g)\n"
            "y['a'][0].add_(1)\nz.mul_(2)\nreturn y['a'][1], y['b'] + 1, self.g * x0, deepcopy(self.layer)(x0)",
            x,
            'self.register_buffer("g", torch.ones(3))\nself.layer = nn.Linear(3, 3)',
        ),
        "slices of selected rows": Kind(
            """
        x = x0[x1]
        y = x.relu()
        y[:2].add_(1)
        return x[:3] * 2, x[-2:], x[1:-1, ::2].sum(0), x[None, :2, 1:], torch.cat([x[5:], y])
        """,
            ("torch.randn(6, 8)", "torch.rand(6) > 0.4"),
        ),
        "a mask larger than its tensor": Kind(
            "return torch.masked_select(x0, x1), x0[:1].masked_select(x1.mT), x1.masked_select(x0 > 0)",
            ("torch.randn(6)", "torch.rand(4, 6) > 0.4"),
        ),
        "unique items of the last dimension": Kind(
            "return torch.unique_consecutive(x0, dim=-1), torch.unique(x0, return_counts=True, dim=-2)",
            ("torch.randint(2, (3, 2, 5)).float()",),
        ),
        "covariances": Kind(
            "return torch.cov(x0), x0[0].cov(correction=0), torch.corrcoef(x0), torch.corrcoef(x0[1])",
            ("torch.randn(4, 9)",),
        ),
        "numbers beside tensors of no dimensions": Kind(
            "y, n = x0.sum(), x1.sum(dtype=torch.int32)\n"
            "return y - 1.5, torch.maximum(y * 0.1, y.new_zeros([])), n * 2, x1[0] // 2",
            ("torch.rand(3).bfloat16()", "torch.tensor([3, 1, 2], dtype=torch.int32)"),
        ),
        "functions of one number": Kind(
            "return torch.digamma(x0.sum()), torch.cummax(x0.sum(), 0)[0]", ("torch.rand(3)",)
        ),
        "repeats of a buffer": Kind(
            "y, z = x0.repeat_interleave(torch.tensor([2, 0, 1])), x0[(x0 > 0).nonzero()].sum()\n"
            "return y * 2, z, torch.stack([x0, x0]).repeat_interleave(self.n, dim=1), torch.repeat_interleave(self.a),"
            " x0.repeat_interleave(self.n[:1])",
            x,
            'self.register_buffer("n", torch.tensor([1, 2, 3]))\nself.a = torch.tensor([3, 1])',
        ),
        "calls that raise": Kind(
            "try:\n    y = x0.view(2, 2)\nexcept RuntimeError:\n    y = x0.view(3, 1)\n"
            "try:\n    z = y @ y\nexcept RuntimeError:\n    z = y @ y.mT\nreturn z * x0",
            x,
        ),
        "a tensor of results": Kind(
            "y = torch.tensor([x0.sum(), x0.max(), 1])\n"
            "return y * x0, torch.tensor([[x0[0], 2.5], [len(x0), x0.argmax()]], dtype=torch.float64),"
            " torch.tensor((x0.argmin(), True)), torch.tensor([x0[0] > 0, False])",
            x,
        ),
    }


def _distributions() -> dict[str, Kind]:
    """Distributions check their parameters."""
    x = ("torch.randn(3, 4)",)
    return {
        "the log of a density": Kind(
            "mean, deviation = self.layer(x0).chunk(2, 1)\n"
            "return torch.distributions.Normal(mean, deviation.exp()).log_prob(x0[:, :2]).sum(1)",
            x,
            "self.layer = nn.Linear(4, 4)",
        ),
        "an entropy": Kind("d = torch.distributions.Categorical(logits=x0)\nreturn d.entropy(), d.probs", x),
    }


def _spectra() -> dict[str, Kind]:
    """Layers of neural operators, whose weights are complex."""
    weight = "self.w = nn.Parameter(torch.randn(3, 2, dtype=torch.cfloat))"
    return {
        "products of modes": Kind(
            "y = torch.zeros(3, 4, dtype=torch.cfloat)\n"
            "y[:, 1:3] = torch.fft.rfft(x0)[:, :2] * self.w[:, 0:2]\nreturn torch.fft.irfft(y, n=6)",
            ("torch.randn(3, 6)",),
            weight,
        ),
        "sums of modes": Kind(
            'y = torch.einsum("bi,io->bo", torch.fft.rfft(x0)[:, 1:], self.w)\nreturn torch.view_as_real(y)',
            ("torch.randn(2, 6)",),
            weight,
        ),
    }


def _bags() -> dict[str, Kind]:
    """Sums of rows of a table, whose sizes PyTorch's fake kernel and kernel tell differently."""
    ids = ("torch.randint(10, (4, 3))",)
    return {
        f"{mode}s of rows of bfloat16": Kind(
            "return self.bag(x0)", ids, f"self.bag = nn.EmbeddingBag(10, 16, mode='{mode}').bfloat16()"
        )
        for mode in ("sum", "mean")
    }


def _by_columns() -> dict[str, Kind]:
    """Results of linear algebra, whose columns are in a row, in another dtype."""
    return {
        "a conversion of inverses": Kind(
            "y = torch.linalg.inv(x0.double()).float()\nreturn y @ x1, y * x1, y.flatten(), y.sum(1)",
            ("torch.randn(2, 3, 3) + 4 * torch.eye(3)", "torch.randn(2, 3, 3)"),
        ),
        "conversions of factors": Kind(
            "q, r = torch.linalg.qr(x0)\nreturn q.to(torch.float64), r.half(), (r * 100).int() + 1",
            ("torch.randn(2, 4, 3)",),
        ),
    }


def _sizes() -> dict[str, Kind]:
    """Modules whose lines depend on a size that changes from run to run."""
    bodies = {
        "a step": "return x0[:, ::2] + 1",
        "neighbors": "return x0[:, 1:] - x0[:, :-1]",
        "a half": "n = x0.shape[1] // 2\nreturn torch.cat([x0[:, n:], x0[:, :n]], 1)",
        "at most four": "return x0[:, : min(x0.shape[1], 4)] * 2",
        "at least nine": "return F.pad(x0, (0, 0, 0, max(x0.shape[1], 9) - x0.shape[1]))",
        "a multiple of four": "x = F.pad(x0, (0, 0, 0, -x0.shape[1] % 4))\nreturn x.reshape(2, -1, 4, 8).sum(2)",
        "positions": "return x0 * torch.arange(x0.shape[1] - 1, -1, -1).view(1, -1, 1) / x0.shape[1]",
        "a causal mask": (
            "n = x0.shape[1]\nmask = torch.ones(n, n, dtype=torch.bool).tril()\n"
            "return (x0 @ x0.transpose(1, 2)).masked_fill(~mask, float('-inf')).softmax(-1) @ x0"
        ),
        "distances": (
            "p = torch.arange(x0.shape[1])\nd = (p[None] - p[:, None]).abs()\n"
            "return (x0 @ x0.transpose(1, 2) - d * 0.5).softmax(-1)"
        ),
        "rotations": (
            "a = torch.outer(torch.arange(x0.shape[1]).float(), torch.tensor([1.0, 0.1, 0.01, 0.001]))\n"
            "x, y = x0[..., ::2], x0[..., 1::2]\n"
            "return torch.stack([x * a.cos() - y * a.sin(), x * a.sin() + y * a.cos()], -1).flatten(-2)"
        ),
        "heads": (
            "x = x0.view(2, -1, 2, 4).transpose(1, 2)\nreturn F.scaled_dot_product_attention(x, x, x, is_causal=True)"
        ),
        "down and up": "x = F.avg_pool1d(x0.transpose(1, 2), 2)\nreturn F.interpolate(x, size=x0.shape[1])",
        "a smaller size": "return F.interpolate(x0.transpose(1, 2), scale_factor=0.5, mode='linear')",
        "an adaptive mean": "return F.adaptive_avg_pool1d(x0.transpose(1, 2), 3)",
        "steps between numbers": (
            "n = x0.shape[1]\nx = x0 * torch.linspace(-1, 1, n).view(1, -1, 1)\n"
            "return x, torch.linspace(0, 9, n // 2, dtype=torch.int64), torch.logspace(0, 1, steps=n, base=2.0)"
        ),
        "a code of positions": "return F.one_hot(torch.arange(4), x0.shape[1]).float() @ x0",
        "pools of rows": "return F.max_pool1d(x0.mT, 2), F.max_pool1d(x0.mT, 3, 1, padding=1, ceil_mode=True)",
        "pools of all rows": (
            "x = x0.mT\nreturn F.max_pool1d(x, x.shape[2]), F.avg_pool1d(x, x.shape[2]), F.max_pool2d(x, x.shape[1:]),"
            " F.avg_pool2d(x, x.shape[1:])"
        ),
        "powers": "n = x0.shape[1]\nreturn x0 / n**0.5, x0 * n**-2, x0 * (n / 3) ** 1.5",
        "shifts and absolute values": (
            "n = x0.shape[1]\nreturn x0[:, : n >> 1], x0 * (n << 2), x0 * abs(7 - n) * abs(n / 9 - 1)"
        ),
        "roundings": (
            "from math import ceil, floor\nn = x0.shape[1]\n"
            "return x0[:, : ceil(n / 2)], x0[:, : floor(n * 0.5)], x0 * floor((7 - n) / 2)"
        ),
        "maxima of floats": "n = x0.shape[1]\nreturn x0 * torch.sym_max(n / 2, 4.5), x0 * torch.sym_min(6.5, n)",
        "folds": "return x0.unfold(1, 2, 2).sum(-1), F.unfold(x0.unsqueeze(1), (2, 2))",
        "a roll": "return x0.roll(x0.shape[1] // 2, 1), x0.flip(1)",
        "chunks": "x, y = x0.chunk(2, 1)\nreturn torch.cat([y, x], 1), x.sum(1)",
        "sums so far": "return x0.cumsum(1) / torch.arange(1, x0.shape[1] + 1).view(1, -1, 1)",
        "the upper half": "return x0.topk(x0.shape[1] // 2, 1).values, x0.sort(1).values",
        "products of spectra": (
            "n = x0.shape[1]\nx = torch.fft.rfft(x0, dim=1, n=2 * n)\n"
            "return torch.fft.irfft(x * x, n=2 * n, dim=1)[:, :n], torch.fft.rfft(x0, dim=1).abs()"
        ),
        "new tensors": (
            "x = x0.new_zeros(2, x0.shape[1], 4)\ny = torch.empty_like(x0).fill_(2)\nreturn torch.cat([x, y], -1)"
        ),
        "writes to parts": "x = x0.clone()\nx[:, 1:] += x0[:, :-1]\nx[:, -1] = 0\nreturn x",
    }
    kinds = {f"sizes: {name}": Kind(body, ("torch.randn(2, n, 8)",), dynamic=(1,)) for name, body in bodies.items()}
    layers = {
        "a convolution": "nn.Conv1d(8, 4, 3, stride=2, padding=1)",
        "a causal convolution": "nn.Sequential(nn.ConstantPad1d((4, 0), 0), nn.Conv1d(8, 4, 3, dilation=2), nn.ReLU())",
        "a transposed convolution": "nn.ConvTranspose1d(8, 4, 4, stride=2, padding=1)",
        "norms": "nn.Sequential(nn.BatchNorm1d(8), nn.GroupNorm(2, 8), nn.GELU(), nn.AdaptiveAvgPool1d(1))",
    }
    for name, layer in layers.items():
        forward = "return self.layer(x0.transpose(1, 2))"
        kinds[f"sizes: {name}"] = Kind(forward, ("torch.randn(2, n, 8)",), f"self.layer = {layer}", dynamic=(1,))
    encoder = "nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)"
    return kinds | {
        "sizes: an encoder": Kind(
            "return self.layer(x0)", ("torch.randn(2, n, 8)",), f"self.layer = {encoder}", dynamic=(1,)
        ),
        "sizes: lengths": Kind(
            "mask = torch.arange(x0.shape[1])[None] < x1[:, None]\n"
            "return (x0 * mask[..., None]).sum(1) / x1[:, None], x0[torch.arange(2), x1 - 1]",
            ("torch.randn(2, n, 8)", "torch.tensor([n, 3])"),
            dynamic=(1, None),
        ),
        "sizes: images": Kind(
            "x = F.max_pool2d(self.layer(x0), 2)\nreturn torch.cat([F.interpolate(x, size=x0.shape[2:]), x0], 1)",
            ("torch.randn(1, 3, 2 * n, 8)",),
            "self.layer = nn.Conv2d(3, 4, 3, padding=1)",
            dynamic=(2,),
        ),
        "sizes: a batch": Kind(
            "return self.layer(x0.mean((2, 3))).squeeze(1)",
            ("torch.randn(n, 3, 4, 4)",),
            "self.layer = nn.Linear(3, 1)",
            dynamic=(0,),
        ),
        "sizes: a cache": Kind(
            "n = x0.shape[1]\nself.cache[:, :n] = x0\nreturn self.cache.sum(1)",
            ("torch.randn(2, n, 8)",),
            'self.register_buffer("cache", torch.zeros(2, 30, 8))',
            dynamic=(1,),
        ),
    }


KINDS = {
    **_sizes(),
    **_views_of_channels_last(),
    **_one_channel_or_pixel(),
    **_layers_of_permuted(),
    **_state(),
    **_control_flow(),
    **_writes(),
    **_copies_into_buffers(),
    **_numbers(),
    **_padded_attention(),
    **_flexible_attention(),
    **_bags(),
    **_by_columns(),
    **_regions(),
    **_values_of_buffers(),
    **_spectra(),
    **_positions(),
    **_distributions(),
    **_calls_that_leave_a_trace(),
}
