"""Small modules, a method each, on which graph passes once went wrong or failed."""

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

Tensors = tuple[torch.Tensor, ...]


class _Function(nn.Module):
    """A function of tensors, with layers if there are any."""

    def __init__(self, function: Callable[..., object], *layers: nn.Module) -> None:
        super().__init__()
        self.function = function
        self.layers = nn.ModuleList(layers)

    def forward(self, *inputs: torch.Tensor) -> object:
        return self.function(*inputs, *self.layers)


def _norm(kind: type[nn.Module], features: int) -> nn.Module:
    """A batch norm with statistics as after a training."""
    norm = kind(features)
    for tensor in norm.state_dict().values():
        if tensor.is_floating_point():
            tensor.copy_(torch.rand_like(tensor) + 0.5)
    return norm


def _gelu_with_tanh(x: torch.Tensor, layer: nn.Module) -> Tensors:
    y = layer(x)
    t = torch.tanh(math.sqrt(2 / math.pi) * (y + 0.044715 * y**3))
    return 0.5 * y * (1 + t), t * 2


def _written_after_squeeze(x: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> Tensors:
    c = x * 2
    w = c.squeeze(0).index_put((i,), v)
    return c + 1, w * 2


def _written_before_unsqueeze(x: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> Tensors:
    c = x[0] * 2
    u = c.unsqueeze(0)
    y = c.index_put((i,), v)
    return u + 1, y * 1


def _written_after_select(x: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> Tensors:
    c = x * 2
    w = c.select(0, 0).index_put((i,), v)
    return c + 1, w * 2


def _written_view_of_input(x: torch.Tensor, i: torch.Tensor, v: torch.Tensor) -> Tensors:
    w = x.squeeze(0).index_put((i,), v)
    return w * 2, x + 1


def _written_by_mask(x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    y = x * 2
    y[x[:, 0] > 0] = v
    return y


def _attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(query, key, value)


def _write() -> Tensors:
    return torch.randn(1, 6, 4), torch.tensor([4, 1]), torch.randn(2, 4)


_MANY_HEADS = (torch.randn(2, 4, 5, 16), torch.randn(2, 4, 7, 16), torch.randn(2, 4, 7, 16))
_ONE_HEAD = (torch.randn(2, 1, 5, 16), torch.randn(2, 1, 7, 16), torch.randn(2, 1, 7, 16))
_IMAGE = (torch.randn(1, 8, 12, 12),)


def get_model() -> dict[str, tuple[nn.Module, Tensors]]:
    def of(function: Callable[..., object], inputs: Tensors, *layers: nn.Module) -> tuple[nn.Module, Tensors]:
        return _Function(function, *layers), inputs

    def sequence(inputs: Tensors, *layers: nn.Module) -> tuple[nn.Module, Tensors]:
        return nn.Sequential(*layers), inputs

    return {
        "two_norms_of_convolution": sequence(
            _IMAGE, nn.Conv2d(8, 16, 3), _norm(nn.BatchNorm2d, 16), _norm(nn.BatchNorm2d, 16)
        ),
        "two_norms_of_linear": sequence(
            (torch.randn(3, 8),), nn.Linear(8, 16), _norm(nn.BatchNorm1d, 16), _norm(nn.BatchNorm1d, 16)
        ),
        "gelu_with_tanh": of(_gelu_with_tanh, (torch.randn(5, 8),), nn.Linear(8, 16)),
        "written_after_squeeze": of(_written_after_squeeze, _write()),
        "written_before_unsqueeze": of(_written_before_unsqueeze, _write()),
        "written_after_select": of(_written_after_select, _write()),
        "written_view_of_input": of(_written_view_of_input, _write()),
        "written_by_mask": of(_written_by_mask, (torch.randn(4, 3), torch.tensor(7.0))),
        "upsample": sequence(
            (torch.randn(1, 32, 16, 16),), nn.Conv2d(32, 32, 3, padding=1), nn.Upsample(scale_factor=2)
        ),
        "one_query_head": of(_attention, (_ONE_HEAD[0], *_MANY_HEADS[1:])),
        "one_key_head": of(_attention, (_MANY_HEADS[0], *_ONE_HEAD[1:])),
        "valid_padding": sequence(
            _IMAGE, nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(8, 16, 3, stride=2, padding="valid"), nn.ReLU()
        ),
        "same_padding": sequence(_IMAGE, nn.Conv2d(8, 48, 4, padding="same"), nn.Conv2d(48, 8, 3, padding="same")),
        "one_channel_softplus": of(
            lambda x, layer: functional.softplus(layer(x)).transpose(1, 2),
            (torch.randn(1, 48, 8, 8),),
            nn.Conv2d(48, 1, 3, padding=1),
        ),
        "one_channel_mish": of(
            lambda x, layer: functional.mish(layer(x)).transpose(1, 2),
            (torch.randn(1, 48, 8, 8),),
            nn.Conv2d(48, 1, 3, padding=1),
        ),
        "expanded": of(lambda x: (x.expand(3, 2, 4), x + 1), (torch.randn(2, 4),)),
        "no_outputs": sequence((torch.randn(3, 4),), nn.Linear(4, 0)),
    }


def get_dynamic_shapes() -> dict[str, tuple[object, ...]]:
    side = {2: torch.export.Dim("height", min=4, max=64), 3: torch.export.Dim("width", min=4, max=64)}
    return {"upsample": (side,)}


def get_sample_inputs() -> dict[str, list[Tensors]]:
    # The first is the example's size; a mask chooses none, some and all of the rows.
    images: list[Tensors] = [(torch.randn(1, 32, height, width),) for height, width in ((16, 16), (8, 24), (31, 5))]
    rows: list[Tensors] = [
        (torch.randn(4, 3) + shift, torch.tensor(7.0))
        for shift in (torch.zeros(4, 3), torch.full((4, 3), 9.0), torch.full((4, 3), -9.0))
    ]
    return {"upsample": images, "written_by_mask": rows}
